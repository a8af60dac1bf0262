"""Canaries of adapters, tried where their framework is installed: each is caught, and each would
have run."""

from __future__ import annotations

from importlib import import_module
from typing import Final

import pytest

from stanchion.hosts.canaries import CANARIES, driven, installed, loaded
from stanchion.hosts.contract.canary import TOOL, Canary, perform
from stanchion.testing import shield_for

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::UserWarning"
)  # the frameworks' own


REQUESTS: Final = "stanchion.hosts.http.canaries"
ELSEWHERE: Final = ("litellm", "litellm-async")
"""Their framework keeps its clients for ever: they are tried where somebody closes them."""


@pytest.mark.parametrize(
    "name", sorted(CANARIES.keys() - {*ELSEWHERE}), ids=lambda name: name.replace("-", "_")
)
def test_a_canary_is_caught_and_would_run(name: str) -> None:
    if name not in installed():
        pytest.skip(f"the framework of `{name}` is not installed")
    hold(name)


def hold(name: str) -> None:
    """Hold that a canary is caught, and that it is let through by a shield that allows it:
    otherwise that it did not run says nothing. A request would look for a host that is nowhere."""
    came = driven(name)
    assert came.caught, came.why
    assert came.version
    assert name in loaded(), "its framework is loaded, and not known to be"
    assert CANARIES[name].home == REQUESTS or would_run(name), "it does not run where it may"


def would_run(name: str) -> bool:
    """Whether a canary runs where nothing forbids it."""
    one = CANARIES[name]
    canary: Canary = getattr(import_module(one.home), one.name)
    ran: list[str] = []

    def body() -> str:
        ran.append(TOOL)
        return "the canary ran"

    try:
        perform(canary, shield_for({"name": "bare"}), body)
    except Exception:
        # A client of models raises what its provider would have answered: it is known by then
        # whether it ran.
        if not ran:
            raise
    return bool(ran)

"""Canaries of adapters, tried where their framework is installed: each is caught, and each would
have run."""

from __future__ import annotations

from importlib import import_module

from stanchion.hosts.canaries import CANARIES, driven, loaded
from stanchion.hosts.contract.canary import TOOL, Canary, perform
from stanchion.testing import shield_for


def check_canary(name: str) -> None:
    """Raise `AssertionError` where a canary is not caught, or where it is not let through by a
    shield that allows it: then that it did not run says nothing."""
    came = driven(name)
    assert came.caught, came.why
    assert came.version
    assert name in loaded(), "its framework is loaded, and not known to be"
    assert would_run(name), "it does not run where it may"


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

"""What cannot be carried out is told by the dialect's own error, in one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stanchion.dialects import agent33, guardian, penguiflow, ragix, veronica

MAKES: dict[str, tuple[str, Callable[..., Any]]] = {
    "agent33": ("store", lambda **given: agent33.Guardrails.load(**given)),
    "guardian": ("db_path", lambda **given: guardian.GuardianLayer(**given)),
    "penguiflow": (
        "store",
        lambda **given: penguiflow.GuardrailGateway(penguiflow.RuleRegistry(), **given).shield,
    ),
    "veronica": ("store", lambda **given: veronica.ShieldPipeline(**given)),
    "veronica, whole": (
        "store",
        lambda **given: veronica.VeronicaIntegration(
            veronica.ShieldConfig(safe_mode=veronica.SafeModeConfig(enabled=True)), **given
        ),
    ),
}


@pytest.mark.parametrize("dialect", MAKES)
def test_a_place_that_cannot_be_used_is_told_by_the_dialect(dialect: str) -> None:
    name, make = MAKES[dialect]
    with pytest.raises(agent33.DialectError, match=f"`{name}` cannot be used: `bogus:` is not a"):
        make(**{name: "bogus://"})


@pytest.mark.parametrize("dialect", MAKES)
def test_a_trail_that_cannot_be_written_is_told_by_the_dialect(dialect: str) -> None:
    with pytest.raises(agent33.DialectError, match="`journal` cannot be used: the audit trail in"):
        MAKES[dialect][1](journal="/proc/none/trail")


@pytest.mark.parametrize("dialect", MAKES)
def test_an_option_that_there_is_not_is_told_with_the_one_that_was_meant(dialect: str) -> None:
    with pytest.raises(agent33.DialectError, match="has no option `tennant`: did you mean `tenan"):
        MAKES[dialect][1](tennant="x")


def test_every_dialect_has_the_error_by_its_name() -> None:
    known = {one.DialectError for one in (agent33, guardian, penguiflow, ragix, veronica)}
    assert len(known) == 1

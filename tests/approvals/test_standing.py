"""Standing approvals: which calls one is for, and until when."""

from __future__ import annotations

from typing import Any, Final

import pytest

from stanchion.approvals.standing import AskedCall, alike, ends_ms, fits, last_day
from stanchion.policy.sections import ApprovedEntry

RULE: Final = ApprovedEntry(
    tool="bash",
    args={"cwd": "src", "n": 1},
    patterns={"command": "git push origin feature-*"},
    guards=("ask", "more"),
    agents=("bot",),
    tasks=("t",),
    until="2026-11-30",
)
ARGS: Final = {"cwd": "src", "n": 1, "command": "git push origin feature-1"}
CALL: Final = AskedCall("bash", ARGS, ("ask",), "bot", "t", False)

OTHERS: Final[list[dict[str, Any]]] = [
    {"tool": "sh"},
    {"guards": ("ask", "third")},
    {"guards": ()},
    {"agent": "bot-2"},
    {"task": ""},
    {"once_only": True},
    {"args": {**ARGS, "n": True}},
    {"args": {**ARGS, "cwd": "docs"}},
    {"args": {**ARGS, "force": False}},
    {"args": {name: ARGS[name] for name in ("cwd", "command")}},
    {"args": {**ARGS, "command": "git push origin feature-1 --force"}},
    {"args": {**ARGS, "command": "git push origin feature-1; rm -rf /"}},
    {"args": {**ARGS, "command": ["git push origin feature-1"]}},
    {"args": None},
]


def test_a_call_fits_that_differs_in_nothing_but_the_pattern() -> None:
    assert fits(RULE, CALL)
    assert fits(
        RULE,
        CALL._replace(
            args={**ARGS, "command": "git push origin feature-2"}, guards=("ask", "more")
        ),
    )


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_any_other_call_does_not(other: dict[str, Any]) -> None:
    assert not fits(RULE, CALL._replace(**other))


def test_what_is_alike_is_so_whoever_makes_the_call() -> None:
    assert alike(RULE, "bash", ARGS)
    assert not alike(RULE, "bash", {**ARGS, "cwd": "docs"})


def test_it_ends_with_its_last_day() -> None:
    assert ends_ms("2026-11-30") == 1_796_083_200_000
    assert last_day(1_796_083_200_000 - 1, 0) == "2026-11-30"
    assert last_day(1_796_083_200_000, 30) == "2026-12-31"
    with pytest.raises(ValueError, match="soon"):
        ends_ms("soon")

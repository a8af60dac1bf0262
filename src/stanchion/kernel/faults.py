"""Faults: whose a failure is, and whether it says that its tool does not work. Every guard that
watches how tools work asks here."""

from __future__ import annotations

from typing import Final, Literal

from stanchion.kernel.events import Event, Failure, ToolResult

FaultName = Literal["system", "user", "business", "unknown"]
"""`system`: the tool or what it rests on does not work. `user`: the call was wrong. `business`: the
tool works and says no. `unknown`: nobody can tell."""

UNKNOWN: Final = "unknown"

FAILED: Final = "failed"
"""The trait of a result that reports failure. The failure was judged as an error before it, and
counted there."""

COMMAND: Final = "CommandFailed"
"""The kind of failure that comes of what a tool was given to run: an exit status, code that raises.
Its words are the command's, so that they say nothing of the tool."""

FAULTS: Final[tuple[FaultName, ...]] = ("system", "user", "business", "unknown")


def tool_fault(failure: Failure) -> str:
    """Whose a failure is, as far as its tool goes: what comes of a command is the answer of a tool
    that works, whatever the command ran into."""
    if COMMAND in (failure.error, *failure.bases):
        return "business"
    return failure.fault if failure.fault else UNKNOWN


def tool_failed(outcome: Event, counts: tuple[FaultName, ...]) -> bool | None:
    """Whether an outcome says that its tool does not work; `None` for what is no outcome, and for a
    result whose failure was counted before it."""
    if not isinstance(outcome, ToolResult | Failure) or FAILED in outcome.traits:
        return None
    return isinstance(outcome, Failure) and tool_fault(outcome) in counts


def may_pass(failure: Failure) -> bool:
    """Whether the same call may go well later: the tool does not work now, or what it reached."""
    return failure.fault == "system"


def check_counts(counts: tuple[FaultName, ...]) -> None:
    """Raise `ValueError` for a choice of faults by which nothing is a failure."""
    if not counts:
        raise ValueError(
            "`counts` is empty, so nothing is a failure: name some faults, or leave it out"
        )

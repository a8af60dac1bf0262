"""Standing approvals: what a policy lets go ahead without asking again, because people have said
yes to it often."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, Protocol

from stanchion.approvals.grant_reach import matches
from stanchion.kernel.tuples import NamedTuple

CRITICAL: Final = "critical"


class StandingApproval(Protocol):
    """A standing approval as a policy has it."""

    @property
    def tool(self) -> str:
        """The tool that is called."""

    @property
    def guards(self) -> tuple[str, ...]:
        """The guards whose questions it answers."""

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents that it is for."""

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that it is for; the empty name stands for none."""

    @property
    def args(self) -> Mapping[str, Any]:
        """The arguments that have to be these."""

    @property
    def patterns(self) -> Mapping[str, str]:
        """The arguments that have to fit a pattern."""

    @property
    def until(self) -> str:
        """The last day on which it holds."""


class AskedCall(NamedTuple):
    """A tool call that guards ask about, as far as it matters here."""

    tool: str
    args: Any
    guards: tuple[str, ...]
    agent: str
    task: str
    once_only: bool
    """It is critical, or its effect lasts."""


def fits(standing: StandingApproval, call: AskedCall) -> bool:
    """Whether a call needs no other yes: the same tool with fitting arguments, for one of its
    agents and tasks, asked about by none but its guards. What is critical or cannot be undone
    always needs one."""
    return (
        alike(standing, call.tool, call.args)
        and bool(call.guards)
        and set(call.guards) <= set(standing.guards)
        and call.agent in standing.agents
        and call.task in standing.tasks
        and not call.once_only
    )


def alike(standing: StandingApproval, tool: str, args: Any) -> bool:
    """Whether a call has the tool and the arguments that an approval is for, whoever makes it."""
    if (
        tool != standing.tool
        or not isinstance(args, dict)
        or args.keys() != {*standing.args, *standing.patterns}
    ):
        return False
    return all(_equal(args[name], value) for name, value in standing.args.items()) and all(
        matches(pattern, args[name]) for name, pattern in standing.patterns.items()
    )


def _equal(one: Any, other: Any) -> bool:
    """Whether two values are the same, and of the same type: `1` is not `true`."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(
            _equal(value, other[name]) for name, value in one.items()
        )
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)


def ends_ms(until: str) -> int:
    """When an approval ends: with that day, in UTC. `ValueError` where it is no day."""
    day = datetime.combine(date.fromisoformat(until) + timedelta(days=1), time(), UTC)
    return int(day.timestamp() * 1000)


def last_day(now_ms: int, days: int) -> str:
    """The day on which an approval ends that is given now for so many days."""
    return (datetime.fromtimestamp(now_ms / 1000, UTC).date() + timedelta(days=days)).isoformat()

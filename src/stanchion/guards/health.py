"""Health: how well each tool has worked lately, as a score from 0 to 100, and what it has done in
all."""

from __future__ import annotations

from typing import Annotated, ClassVar, Final

import msgspec

from stanchion.kernel.actions import Action, Category
from stanchion.kernel.events import Event, Failure, ToolCall, ToolResult
from stanchion.kernel.faults import FaultName, check_counts, tool_failed
from stanchion.kernel.findings import Finding
from stanchion.kernel.guard import Kind
from stanchion.kernel.registers import MOST_BITS, outcomes, pushed
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Line, When, key
from stanchion.kernel.words import Words, declare

CODES: Final = declare(
    {
        "health.low": Words(
            "tool `{}` works badly: its health is {} of 100, by its last {} calls",
            "use another tool where there is one, and do not rely on this one",
        ),
        "health.unsteady": Words(
            "tool `{}` is unsteady: its health is {} of 100, by its last {} calls",
            "look at what it returns before you rely on it",
        ),
        "health.known": Words("the health of tool `{}` is {} of 100, by its last {} calls"),
    }
)

Score = Annotated[int, msgspec.Meta(ge=0, le=100)]


LOW: Final = 50
"""A health below this percentage is low."""
UNSTEADY: Final = 80
"""A health below this percentage, and not low, is unsteady."""


class Health(msgspec.Struct, frozen=True):
    """Remembers how the last calls of a tool went, and says so where too many of them failed; it
    never refuses.

    A failure that is the caller's own fault, or the tool's way of saying no, is an answer of a tool
    that works. With `tool_call` among its `stages`, every call says how its tool has worked so far.
    """

    name: ClassVar = "health"
    kind: ClassVar = Kind.METER
    stages: ClassVar = frozenset({Stage.TOOL_RESULT, Stage.ERROR})
    category: ClassVar = Category.QUALITY
    priority: ClassVar = 2

    calls: Annotated[int, msgspec.Meta(ge=1, le=MOST_BITS)] = 20
    """How many of a tool's last calls are remembered."""
    min_calls: Annotated[int, msgspec.Meta(ge=1, le=MOST_BITS)] = 5
    """The guard says nothing until this many calls are known."""
    counts: tuple[FaultName, ...] = ("system", "unknown")
    """The kinds of fault that count as failures of the tool."""

    def __post_init__(self) -> None:
        if self.min_calls > self.calls:
            said = f"`min_calls: {self.min_calls}` is more than `calls: {self.calls}`"
            raise ValueError(f"{said}, which is all that is remembered: give less, or more calls")
        check_counts(self.counts)

    def lines(self, event: Event, /) -> tuple[Line, ...]:
        """The last outcomes of a tool, all its calls, and all its failures."""
        if isinstance(event, ToolCall):
            return (
                Line(health_key(event.run.tenant, event.tool), when=When.LOOK, bits=self.calls),
            )
        failed = tool_failed(event, self.counts)
        if not event.tool or failed is None:
            return ()
        register = health_key(event.run.tenant, event.tool)
        calls, failures = reliability_keys(event.run.tenant, event.tool)
        counted = (
            Line(register, when=When.JUDGED, bits=self.calls, push=int(failed)),
            Line(calls, when=When.JUDGED),
        )
        return (*counted, Line(failures, when=When.JUDGED)) if failed else counted

    def word(
        self, _event: Event, action: Action, values: tuple[int, ...], _said: tuple[int, ...], /
    ) -> Finding:
        """Nothing here has a limit."""
        return Finding(action, "health.low", values)

    def watch(
        self, event: ToolCall | ToolResult | Failure, values: tuple[int, ...], /
    ) -> Finding | None:
        """Say how well a tool works where that is not well enough, this call included; before a
        call, in any case."""
        if not values:
            return None
        before = isinstance(event, ToolCall)
        failure = isinstance(event, Failure) and tool_failed(event, self.counts)
        register = values[0] if before else pushed(values[0], int(bool(failure)), self.calls)
        known, health = outcomes(register).known, score(register)
        if health is None:
            return None
        if known < self.min_calls or health >= UNSTEADY:
            return (
                Finding(Action.ALLOW, "health.known", (event.tool, health, known))
                if before
                else None
            )
        code = "health.low" if health < LOW else "health.unsteady"
        return Finding(Action.ALLOW, code, (event.tool, health, known))

    def actions(self) -> tuple[Action, ...]:
        """What this guard can answer."""
        return (Action.ALLOW,)


def score(register: int) -> int | None:
    """How much of a hundred of the last calls went well, rounded down; `None` where none is
    known."""
    known, failed = outcomes(register)
    return 100 * (known - failed) // known if known else None


def health_key(tenant: str, tool: str) -> str:
    """The key of a tool's last outcomes."""
    return key(tenant, "health", tool)


def reliability_keys(tenant: str, tool: str) -> tuple[str, str]:
    """The keys of how often a tool was called, and how often it failed."""
    return key(tenant, "reliability", tool, "calls"), key(tenant, "reliability", tool, "failures")

"""The four kinds of guard, each a small protocol, and a guard's place in a policy. What else a
guard may declare, and who asks for it, stands in `stanchion.kernel.contract`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar, Protocol

import msgspec

from stanchion.kernel.actions import Action, Category
from stanchion.kernel.contract.values import Switch
from stanchion.kernel.events import Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import FOREVER, Line, When


class Kind(StrEnum):
    """What a guard asks of the world."""

    PURE = "pure"
    ASKING = "asking"
    RECORD = "record"
    METER = "meter"


class Unjudged(Exception):
    """A guard could not judge an event. Its text is told and recorded: it has names and types in
    it, and no content."""


class TooDense(Exception):
    """An event has more places in it that a guard would have to look at than its length allows. Its
    text is that number, for the refusal."""


def failure_of(error: Exception) -> str:
    """What is told of a guard's failure. An error's own words may hold anything, so that only its
    type is told, unless it is one that says nothing else."""
    name = type(error).__name__
    return f"{name}: {str(error).replace('`', '')}" if isinstance(error, Unjudged) else name


class Reading(Protocol):
    """What an event says, as the policy's reader reads it. The kernel hands it on and asks only
    whose it is, and which guards need not be asked."""

    @property
    def event(self) -> Any:
        """The event."""

    @property
    def redaction(self) -> Action:
        """What taking a part out of the event amounts to: `REDACT`, or the milder or severer action
        of a call that would do something else without it."""

    def heard(self, gates: Any, /) -> tuple[int, ...]:
        """The guards among some with a gate that may have something to say, by their places."""


class PureGuard(Protocol):
    """Judges the event alone."""

    kind: ClassVar[Kind]

    def judge(self, reading: Any, /) -> Finding | None: ...


class AskingGuard(Protocol):
    """Asks one question with a deadline, then judges the event and the answer."""

    kind: ClassVar[Kind]
    deep: ClassVar[bool]

    def ask(self, reading: Any, /) -> Lookup | None: ...

    def judge(self, reading: Any, value: Any, /) -> Finding | None: ...


class Ruling(msgspec.Struct, frozen=True, gc=False):
    """A record guard's answer: a finding, a new value, and the span of store time for which both
    are true.

    `when` says when the value is written, where that is not as the guard does otherwise.
    """

    finding: Finding | None = None
    put: Any = None
    since: int = 0
    until: int = FOREVER
    when: When | None = None


class RecordGuard(Protocol):
    """Judges the event and one small record; may give a new value. `key` may depend on run, stage
    and tool only.

    `writes` says when a new value is written, for all stages or for each.

    It may hear of refusals and give out places: `stanchion.kernel.contract.powers`.
    """

    kind: ClassVar[Kind]
    writes: ClassVar[When | Mapping[Stage, When]]

    def key(self, event: Any, /) -> str: ...

    def judge(self, reading: Any, value: Any, now: int, /) -> Ruling | None: ...


class MeterGuard(Protocol):
    """Gives lines on counters, once per chain and run, and words what the store found on them: each
    line's value before, and the action its bands led to, as it is carried out (`said`). `action` is
    what the guard's own band says: a mark that warns is worded as one, also where warnings refuse.
    It may watch what is counted, and bound what is
    spent: `stanchion.kernel.contract.powers`.
    """

    kind: ClassVar[Kind]

    def lines(self, event: Any, /) -> tuple[Line, ...]: ...

    def word(
        self, event: Any, action: Action, values: tuple[int, ...], said: tuple[int, ...], /
    ) -> Finding: ...


Guard = PureGuard | AskingGuard | RecordGuard | MeterGuard


class Placed(msgspec.Struct, frozen=True, gc=False):
    """A guard at its place: what the engine needs to know of it besides its judgement."""

    id: str
    guard: Any
    priority: int = 100
    category: Category = Category.SAFETY
    stages: frozenset[Stage] = frozenset()
    shadow: bool = False
    fail_open: bool = False
    log_pass: bool = False
    part_of: str = ""
    effects: tuple[str, ...] = ()
    ends: bool = True
    """Whether nothing behind one of its refusals is judged any more."""

    def effects_of(self, finding: Finding) -> tuple[str, ...]:
        """The effects of one of its findings: its own, and those that the policy gives the guard. A
        guard that broke has found nothing, and has none of those."""
        given = () if finding.code.startswith("kernel.") else self.effects
        return tuple(dict.fromkeys((*finding.effects, *given)))

    @property
    def whole(self) -> str:
        """The id under which its verdict is given: that of the guard it is a part of, or its
        own."""
        return self.part_of if self.part_of else self.id

    @property
    def kind(self) -> Kind:
        """Which of the four protocols the guard speaks."""
        kind: Kind = self.guard.kind
        return kind


def writes_at(guard: Any, stage: Stage) -> When:
    """When a record guard's new value is written at a stage."""
    when: When | Mapping[Stage, When] = guard.writes
    return when if isinstance(when, When) else when[stage]


def order(placed: Placed) -> tuple[int, Category, str]:
    """The order of a chain: priority ascending, ties by category, then by id."""
    return (placed.priority, placed.category, placed.id)


__all__ = [
    "AskingGuard",
    "Event",
    "Guard",
    "Kind",
    "MeterGuard",
    "Placed",
    "PureGuard",
    "Reading",
    "RecordGuard",
    "Ruling",
    "Switch",
    "order",
    "writes_at",
]

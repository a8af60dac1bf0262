"""What a guard that keeps state can do besides judging: watch, hear of refusals, give places back,
bound spending."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from stanchion.kernel.events import RunInfo
from stanchion.kernel.findings import Finding
from stanchion.kernel.units import Unit


class Watches(Protocol):
    """A meter that says something about the state of things. Told the values of every event that
    was counted."""

    def watch(self, event: Any, values: tuple[int, ...], /) -> Finding | None:
        """A finding that goes ahead, or nothing."""


class OnlyMarks(Protocol):
    """A guard whose warnings are marks: it only watches, or speaks before its limit does. They
    count towards the third warning only where the policy counts marks."""

    @property
    def only_marks(self) -> bool:
        """Whether they are."""


class HearsRefusals(Protocol):
    """A record guard that learns of refusals. Shown every event of its stages that was refused, by
    whichever guard and wherever that stands; it has judged the event before only if the chain came
    as far as it."""

    def refused(self, reading: Any, value: Any, finding: Finding, /) -> Any:
        """A `Ruling` with a new value, which is written, and a finding that stands behind all
        others; or nothing."""


class Vacates(Protocol):
    """A record guard that gives out places. Asked where the outcome of a call never gets to its
    judgement."""

    def vacate(self, value: Any, calls: frozenset[str], /) -> Any:
        """The record without what those calls have in it; `None` where they have nothing."""


class EndsWithRuns(Protocol):
    """A record guard that keeps something for a run. Asked when the run ends."""

    def run_key(self, run: RunInfo, /) -> str:
        """The key of the record in which it is kept."""

    def ended(self, value: Any, runs: frozenset[str], /) -> Any:
        """The record without what those runs have in it; `None` where they have nothing."""


class Leases(Protocol):
    """Keeps what it gives to an action for a time. Asked when a policy is put in force: an action
    that has not begun well before the end of the shortest is judged again."""

    @property
    def lease_ms(self) -> int:
        """How long."""


class Measures(Protocol):
    """A meter whose limits may be those of a run's task. Asked when a policy is put in force for
    what has to be measured."""

    @property
    def measured(self) -> frozenset[Unit]:
        """The measures that it bounds, whatever gives the limits."""


class SpansTime(Protocol):
    """A meter whose lines are others from time to time. Asked when they are laid out: a batch
    expects the store's time to be within the span."""

    def span(self, at: int, /) -> tuple[int, int]:
        """From when until when the lines of that time are right, in milliseconds."""


class Spends(Protocol):
    """A meter that bounds measures. Asked for what an action reserves that nobody has estimated,
    and for the totals by which a run's mode goes."""

    def limits(self) -> Mapping[Unit, int]:
        """What it bounds, in whole units."""

    def reserves(self) -> Mapping[Unit, int]:
        """What an action reserves that nobody has estimated and nothing else bounds."""

    def totals(self, run: RunInfo, /) -> Mapping[str, int]:
        """Counters of the run or its task that never start anew, by key, with their limits."""

"""The demo's trail: real files, and what was decided at hand."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from stanchion.audit.journal import Fact, Finish, Start
from stanchion.audit.reader import FoundRecord, TrailReader
from stanchion.audit.trail import Trail
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Moment
from stanchion.kernel.findings import Patch
from stanchion.kernel.stages import Stage

START_MS: Final = 1_767_225_600_000
"""When the demo's clocks begin, so that every run of it gives the same records."""


class TappedDecision(NamedTuple):
    """A decision that was made, and about which action: one that is judged again is still the
    same."""

    stage: Stage
    action: str
    decision: Decision


class Tap:
    """A trail that also keeps the decisions themselves, so that what is shown is what was
    decided."""

    def __init__(self, folder: Path) -> None:
        at = itertools.count(START_MS, 7)
        self.trail = Trail(
            folder,
            clock=lambda: next(at),
            names=lambda: f"{1:016x}",
            process=lambda: 1,
            secret=lambda: bytes(32),
        )
        self.decisions: list[TappedDecision] = []
        self.facts: list[Fact] = []

    @property
    def trouble(self) -> str:
        """Why records could not be written lately."""
        return self.trail.trouble

    def write(
        self,
        moment: Moment,
        decision: Decision,
        took_ns: int,
        notes: tuple[str, ...] = (),
        hide: tuple[Patch, ...] = (),
    ) -> int:
        """Write one decision down, and keep it at hand."""
        mark = self.trail.write(moment, decision, took_ns, notes, hide)
        event = moment.events[0]
        self.decisions.append(
            TappedDecision(event.stage, event.call if event.call else event.id, decision)
        )
        return mark

    def begin(self, start: Start) -> None:
        """Write down that a run begins."""
        self.trail.begin(start)

    def end(self, finish: Finish) -> None:
        """Write down that a run has ended."""
        self.trail.end(finish)

    def tell(self, fact: Fact) -> None:
        """Write a fact down, and keep it at hand."""
        self.trail.tell(fact)
        self.facts.append(fact)

    def probe(self) -> None:
        """Find out whether records can be written."""
        self.trail.probe()

    def sync(self, mark: int) -> None:
        """Wait for the disk."""
        self.trail.sync(mark)

    def records(self) -> Iterator[FoundRecord]:
        """What stands in the trail's files now, oldest first."""
        return TrailReader(self.trail.folder).forwards()

    def close(self) -> None:
        """End the trail."""
        self.trail.close()

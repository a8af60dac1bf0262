"""A journal that keeps what it is told until somebody takes it away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from stanchion.audit.journal import Fact, Finish, Journal, Start
from stanchion.kernel.decision import Decision
from stanchion.kernel.events import Moment
from stanchion.kernel.findings import Patch
from tools.decisions.telling import Told, of_decision, of_fact, of_record, untimed

LATE: Final = frozenset({"kernel.lookup_expired", "kernel.lookup_late"})
"""Codes by which a decision says that an answer was not there in time: on a busy machine that is
chance."""


class Written:
    """Takes records as any journal does; `taken` gives what came since the last time, in order."""

    def __init__(self) -> None:
        self._told: list[Told] = []
        self._last: Decision | None = None
        self.trouble = ""
        self.late = False
        """Whether an answer did not come in time."""
        self.also: Journal | None = None
        """A journal that gets everything, too."""
        self.wait: Callable[[], None] = lambda: None
        """Waits for what is asked beside a decision, before anything follows."""

    def taken(self) -> list[Told]:
        """What was written since the last time."""
        told, self._told = self._told, []
        return told

    def hand(self, decision: Decision) -> None:
        """Keep the decision that a caller was handed, unless it is the one that was written
        last."""
        last = self._last
        if decision is not last and (last is None or of_decision(decision) != of_decision(last)):
            self._told.append({"handed": of_decision(decision)})

    def write(
        self,
        moment: Moment,
        decision: Decision,
        took_ns: int,
        notes: tuple[str, ...] = (),
        hide: tuple[Patch, ...] = (),
    ) -> int:
        """Keep a decision; how long it took is no part of it."""
        self._told.append(of_record(moment, decision, notes, hide))
        self._last = decision
        self.late = self.late or any(
            one.code in LATE for one in (*decision.findings, *decision.shadow)
        )
        self.wait()
        return (
            0 if self.also is None else self.also.write(moment, decision, 0, untimed(notes), hide)
        )

    def tell(self, fact: Fact) -> None:
        """Keep a fact."""
        self._told.append(of_fact(fact))
        if self.also is not None:
            self.also.tell(fact)

    def begin(self, start: Start) -> None:
        """Nothing is kept: every case begins its runs."""
        if self.also is not None:
            self.also.begin(start)

    def end(self, finish: Finish) -> None:
        """Nothing is kept: what ended a run is in a decision."""
        if self.also is not None:
            self.also.end(finish)

    def probe(self) -> None:
        """It takes every record."""

    def sync(self, mark: int) -> None:
        """Nothing of it outlives the process."""
        if self.also is not None:
            self.also.sync(mark)

    def close(self) -> None:
        """Let go of the journal beside it."""
        if self.also is not None:
            self.also.close()

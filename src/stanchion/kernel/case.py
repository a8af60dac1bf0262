"""A case: what is known of a moment while it is judged, from the first look at the gates to the
store's reply."""

from __future__ import annotations

import msgspec

from stanchion.kernel.actions import PROCEEDS, UNCHANGED
from stanchion.kernel.chain import Plan, Plans, Slice, Watch
from stanchion.kernel.decision import Inputs, Known
from stanchion.kernel.events import Moment
from stanchion.kernel.findings import Finding, Trace
from stanchion.kernel.judgement import Found, read_of
from stanchion.kernel.layout import Wanted
from stanchion.kernel.lookups import UNHEARD, Answer
from stanchion.kernel.mandate import join
from stanchion.kernel.state import FOREVER, Expect, Line, Put, Reply


class EngineCase:
    """One moment before the engine. Each phase of the engine reads what the phases before it have
    entered, and enters its own."""

    __slots__ = (
        "answers", "asked", "asks", "before", "before_cut", "begun", "ceiling", "cut", "expects",
        "first", "fixed", "found", "go", "judged_by", "lines", "mode", "moment", "now", "plan",
        "plans", "puts", "readings", "since", "slices", "stale", "standing", "took", "until",
        "used", "wanted", "watch",
    )  # fmt: skip

    before: Found
    before_cut: int
    """What the pure guards and late answers say, and where they stop; kept from try to try."""

    plan: Plan
    """The chain by which it is judged."""
    watch: Watch
    """The gates as they were seen."""
    mode: str
    expects: list[Expect]
    used: list[Known]
    fixed: int
    """How many of the expectations are there in any case: those of gates and budgets."""
    found: Found
    cut: int
    """What was found so far, and the last place of the chain that counts; -1 where all of it is
    skipped."""
    since: int
    until: int
    """The span of store time for which what was found is true."""
    lines: tuple[Line, ...]
    slices: list[Slice]
    puts: tuple[Put, ...]

    def __init__(self, plans: Plans, moment: Moment) -> None:
        self.plans = plans
        self.moment = moment
        self.first = first = moment.events[0]
        self.readings = read_of(moment, plans.policy.read)
        self.now = first.at
        """By the store's clock as soon as it is known."""
        self.stale = 0
        """How often the state has moved meanwhile."""
        self.judged_by: Plan | None = None
        """The chain whose pure guards were judged last."""
        self.answers: dict[str, Answer] = {}
        if moment.judged is not None and self.readings is moment.readings:
            self.judged_by, self.before, self.before_cut, self.answers = moment.judged
        self.ceiling = PROCEEDS if moment.attempt > 1 else UNCHANGED
        """The most severe action with which it still goes ahead as it is; a lesser request may be
        changed."""
        self.asked: tuple[tuple[str, Answer], ...] = ()
        """The answers that this try rests on."""
        self.since, self.until = 0, FOREVER
        self.go = True
        """Whether it goes ahead by all that is known before the batch."""
        self.standing = False
        """Whether something stands that has a say: a gate that is not clear, or a budget that is
        used up."""
        self.asks: Finding | None = None
        """What a gate wants a person to answer before the chain is judged."""
        self.wanted: Wanted = []
        self.took: dict[int, int] = {}
        """How long guards took, by their places, in nanoseconds, where that is measured."""
        self.begun = 0
        """When the store was asked, by the same clock."""

    def narrow(self) -> None:
        """Judge the moment by what its run may do, as the store has it."""
        known = self.first.run.mandate
        may = join(known, self.plans.run.mandate)
        if may is known:
            return
        events = tuple(
            [
                msgspec.structs.replace(event, run=msgspec.structs.replace(event.run, may=may))
                for event in self.moment.events
            ]
        )
        self.moment = msgspec.structs.replace(self.moment, events=events, readings=(), judged=None)
        self.first, self.judged_by = events[0], None
        self.readings = read_of(self.moment, self.plans.policy.read)

    @property
    def was_answered(self) -> bool:
        """Whether there is an answer to judge by: those to questions beside the event are for the
        next one."""
        for answer in self.answers.values():  # noqa: SIM110 - no generator: this is on the way of every call that asks
            if answer is not UNHEARD:
                return True
        return False

    def trace(self) -> Trace:
        """The chain and how long its guards took, where that is measured."""
        guards = self.plan.guards
        took = tuple([(guards[pos].id, ns) for pos, ns in self.took.items()])
        return Trace(self.plan.lineup.trace.chain, took)

    def again(self) -> None:
        """Begin another try."""
        self.stale += 1
        self.asked = ()
        self.since, self.until = 0, FOREVER
        self.go = True
        self.standing = False
        self.asks = None
        self.wanted = []

    def inputs(
        self,
        reply: Reply | None = None,
        lost: str = "",
        taken: str = "",
        confirmed: tuple[int, int] | None = None,
        crowd: tuple[int, int] | None = None,
    ) -> Inputs:
        """What a decision of this try is made from."""
        return Inputs(
            tuple(self.used), self.asked, reply, lost, self.mode, self.now, self.stale,
            self.plans.limited, taken, confirmed, (), crowd,
        )  # fmt: skip

"""A run's desk: what flows need of it. Ids, events, moments, plans, open calls, notices."""

from __future__ import annotations

import itertools
import os
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final
from weakref import ref

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.chain import EVERY_ACTION, Plans
from stanchion.kernel.compare_and_set import ChangedRecord, change
from stanchion.kernel.decision import Decision
from stanchion.kernel.declared import ELEMENT, UNDECLARED, Declared, ToolKnown, acting, effect_of
from stanchion.kernel.events import Charge, Event, Moment, RunInfo, ToolCall
from stanchion.kernel.findings import Finding
from stanchion.kernel.gates import PAUSED, Ending, over
from stanchion.kernel.late import in_order, late_finding
from stanchion.kernel.lookups import Answer, Ask, Lookup, Over, Recall
from stanchion.kernel.mandate import Mandate, join
from stanchion.kernel.sizes import CEILING, LONG, refused_unread, room_left
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Settle, Stake
from stanchion.kernel.units import JUST_ONE, Amounts, bounded, costs
from stanchion.locks import Lock
from stanchion.locks.forks import tell_of_forks
from stanchion.policy.veil import texts_in
from stanchion.runtime.answers.lookups import LookupAnswering
from stanchion.runtime.deciding.hosts import plans_of, streamed
from stanchion.runtime.deciding.run_memory import (
    MAX_NOTICES,
    MAX_OPEN,
    Beginning,
    PartialResults,
    counts,
    paused,
)
from stanchion.runtime.deciding.start import Allowed
from stanchion.runtime.deciding.under_way import OpenCalls, OpenedCall, UnderWay
from stanchion.runtime.deciding.undos import UndoStack
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.errors import Refused
from stanchion.stores.protocol import at_once

if TYPE_CHECKING:
    from stanchion.kernel.straight import Judged
    from stanchion.runtime.answers.provenance import Provenance
    from stanchion.runtime.answers.surroundings import Surroundings
    from stanchion.runtime.deciding.faults import Trouble
    from stanchion.runtime.deciding.run_memory import RefusedActions
    from stanchion.runtime.shield import Shield


USED_UP: Final = frozenset(
    {"steps.exceeded", "budget.exceeded", "time.exceeded", "kernel.exhausted", "kernel.deadline"}
)
"""Codes that say that a run has used up what it had: what it has produced until then comes with the
refusal."""


MOST_MEDIA: Final = 1_000
"""How many images and sounds a run remembers that it was let have."""
SHIELD_CLOSED: Final = Ending("kernel.shield_closed", "")
"""The end of a run whose shield was closed."""


class Desk(OpenCalls):
    """What one run has in hand. Safe to use from several threads; nothing in it grows with the
    run's length."""

    def __init__(
        self,
        shield: Shield,
        info: RunInfo,
        nonce: str,
        deadline_at_ms: int | None,
        above: Desk | None = None,
        can: tuple[Action, ...] = EVERY_ACTION,
    ) -> None:
        super().__init__()
        self.shield, self.above = shield, above
        self.store = shield.anchored
        self.at_once: Any = at_once(self.store)
        """Carries out what an event loop need not wait for."""
        self.turns = shield.turns
        self._given = info
        self.info = info = shield.described(info, shield.policy)
        shield.meet((info.id, info.agent, info.task, info.tenant, info.role, *info.labelled))
        self.deadline_at_ms = deadline_at_ms
        self.can = can
        """What the run's host can carry out."""
        self.ended: Ending | None = SHIELD_CLOSED if shield.is_closed else None
        late = self._answered_late, self._recalled, shield.heard_late
        self.asks = (shield.answerer, *late, shield.answers, self._context, info.tenant, self)
        self.answering = LookupAnswering(*self.asks, over=self._over)
        self._surroundings: Surroundings | None = None
        self.provenance: Provenance | None = None if above is None else above.remembers()
        """Where the values of this run and of those above it come from, once a guard wants to
        know."""
        self.judged: tuple[Moment, Judged | None] | None = None
        """The moment that the straight way has left to the engine, and what was found."""
        self.lanes: dict[tuple[type[Any], str], Any] = {}
        """What is known of calls that nobody has anything to say about, by kind and tool."""
        self._prefix = f"{info.id}.{nonce}."
        self._count = itertools.count(1)
        self._plans = plans_of(shield.policy, info, can)
        self.unkept = info.may is not msgspec.UNSET
        """Whether what the run may do has yet to be written where its other processes find it."""
        self.hears_user: bool | None = None
        """Whether its user's words can be said here; `None` until somebody asks."""
        self._streamed: Plans | None = None
        self._charges = Stage.CHARGE in shield.policy.stages
        self.measures = bounded(shield.policy.measures, info.allotment)
        self._late: deque[Finding] = deque(maxlen=MAX_NOTICES)
        self._tickets: OrderedDict[str, str] = OrderedDict()
        self.under_way = UnderWay()
        """Calls whose outcome has yet to be written down."""
        self.allowed = Allowed(shield)
        """When what goes ahead was judged, until it starts."""
        self.told: RunInfo | None = None
        self.decided = counts()
        self.counting = Lock()
        self.partial = PartialResults()
        self.flagged: dict[str, None] = {}
        self.strikes: dict[str, int] = {}
        self._media: OrderedDict[str, None] = OrderedDict()
        """The guards that flagged the run in this process, and how many strikes each has given by
        now."""
        self.lineage: tuple[str, ...] = () if above is None else (above.info.agent, *above.lineage)
        """The agents that this run works for, the nearest first."""
        self.undos: UndoStack = UndoStack(None if above is None else above.undos)
        self.places: OrderedDict[str, int] = OrderedDict()
        """How often the run has got the result of each call that happens once."""
        self.trouble: Trouble | None = None
        """What is known of the failure that came last."""
        self.refused: RefusedActions | None = None
        self.last_refused: tuple[Event, Decision] | None = None
        """The action that was refused last."""
        self.last: Any = None
        self.veiled = False
        self.is_over = False
        """Whether its end is written down."""
        self.carved = ""
        """The hold on its parent's budgets that this run has yet to give back."""
        self.sightings: Any = None
        """What is seen of the run beside its calls, where somebody asks for that."""
        self._beginning = Beginning(shield)
        if above is not None:
            shield.telemetry.orchestrated(info, above)
        tell_of_forks(self)
        shield.desks.add(ref(self, shield.desks.discard))
        if shield.coverage is not None:
            shield.coverage.enter(self)

    def forked(self) -> None:
        """In a forked process: go on with the run there. Its events get ids of their own, because a
        store answers each id once; and what was decided before is told by the process that decided
        it."""
        self._prefix = f"{self._given.id}.{os.urandom(4).hex()}."
        self._count = itertools.count(1)
        self.lanes.clear()
        self.told = None
        self.decided = counts()

    @property
    def plans(self) -> Plans:
        """The run's plans under the policy in force; a new policy gets new ones."""
        if self._plans.policy is not self.shield.policy:
            self._replan()
        return self._plans

    @property
    def streamed(self) -> Plans:
        """Plans for a reply whose chunks are delivered: what can no longer be done becomes
        stricter."""
        plans, known = self.plans, self._streamed
        if known is None or known.policy is not plans.policy:
            known = self._streamed = plans_of(plans.policy, plans.run, streamed(self.can))
        return known

    def _replan(self) -> None:
        policy = self.shield.policy
        self.info = self.shield.described(self._given, policy)
        self._charges = Stage.CHARGE in policy.stages
        self.measures = bounded(policy.measures, self.info.allotment)
        self._plans = plans_of(policy, self.info, self.can)
        self.unkept = self.info.may is not msgspec.UNSET
        self.hears_user = None if self.hears_user else self.hears_user
        self.lanes.clear()

    def narrow(self, mandate: Mandate) -> None:
        """Hold the run to one mandate more."""
        may = join(self._given.mandate, mandate)
        self._given = msgspec.structs.replace(self._given, may=may)
        self._replan()

    @property
    def is_late(self) -> bool:
        """Whether something stands beside its events: late answers, its end, a deadline, a mandate
        that nobody else knows yet."""
        return (
            self.unkept
            or bool(self._late)
            or self.ended is not None
            or self.deadline_at_ms is not None
        )

    def charges(self, event: Event, spent: Amounts) -> bool:
        """Whether what an event costs is judged beside it."""
        return self._charges and spent is not JUST_ONE and costs(event.stage, spent)

    def announce(self, run: RunInfo) -> None:
        """Write down that the run begins, or goes on under another policy or in another process."""
        self._beginning.announce(run, self.deadline_at_ms)
        if self.told is None:
            self.shield.telemetry.run_began()
        self.told = run

    def produced(self) -> tuple[Any, ...]:
        """What the run has produced so far: what it kept, and the last result that the agent
        got."""
        return self.partial.chunks if self.last is None else (*self.partial.chunks, self.last)

    def new_id(self) -> str:
        """An id that no other event has."""
        return self._prefix + str(next(self._count))

    def change(
        self, key: str, new: Callable[[Any, int], Any], batch: str = ""
    ) -> Flow[ChangedRecord]:
        """Write a record of the run's tenant, as `compare_and_set.change` does."""
        batch = batch if batch else self.new_id()
        return change(self.shield.records, batch, self.info.tenant, key, new)

    def event(self, kind: type[Any], tool: str = "", **fields: Any) -> Any:
        """An event of this run, now, with what the policy says of its tool."""
        plans = self.plans
        facts = plans.tools.get(tool)
        risk, traits, *_ = self.known(plans, tool) if facts is None else facts
        name, at = self._prefix + str(next(self._count)), self.shield.clock()
        return kind(id=name, at=at, run=plans.run, tool=tool, risk=risk, traits=traits, **fields)

    def tool_call(
        self, tool: str, args: dict[str, Any], declared: Declared = UNDECLARED
    ) -> ToolCall:
        """The event of a tool call, now; made here by hand because it is made most often."""
        plans = self.plans
        facts = plans.tools.get(tool) if declared is UNDECLARED else None
        risk, traits, *_ = self.known(plans, tool, declared) if facts is None else facts
        if ELEMENT in args:
            traits = acting(traits, args)
        return ToolCall(
            id=self._prefix + str(next(self._count)), at=self.shield.clock(), run=plans.run,
            tool=tool, risk=risk, traits=traits, args=args,
        )  # fmt: skip

    def renewed(self, event: Event) -> Event:
        """The same event once more, now, for a new judgement; it says which one it was first."""
        first = event.call if event.call else event.id
        return msgspec.structs.replace(event, id=self.new_id(), at=self.shield.clock(), call=first)

    def moment(
        self,
        event: Event,
        spent: Amounts = JUST_ONE,
        settles: tuple[Settle, ...] = (),
        attempt: int = 1,
        refused: tuple[Finding, ...] = (),
        stakes: tuple[Stake, ...] = (),
        granted: str = "",
        again: bool = False,
        lifts: tuple[str, ...] = (),
        bypasses: tuple[str, ...] = (),
    ) -> Moment:
        """An event with what enters beside it: its cost, late answers, the run's end, its deadline,
        what the runtime itself has against it, what it rests on, by which ticket a person said yes,
        and past which guards it goes."""
        events: tuple[Event, ...] = (event,)
        if self._charges and spent is not JUST_ONE and costs(event.stage, spent):
            events = (event, self._charge(event, spent))
        known, judged = (None, None) if self.judged is None else self.judged
        if known is not None and known.events == events:
            readings, carried = known.readings, known.carried
        else:
            readings, carried = tuple(map(self.shield.policy.read, events)), None
            judged = None
        late = refused
        if self._late or self.ended is not None or self.deadline_at_ms is not None:
            judged = None
            answers = [self._late.popleft() for _ in range(len(self._late))]
            late = (*refused, *in_order(answers))
            if (stands := over(self.ended, self.deadline_at_ms, event.at)) is not None:
                said = stands.action, stands.code, stands.args, stands.text
                late = (*late, Finding(*said, guard="kernel"))
        about = settles, late, attempt, stakes, granted, again, lifts, bypasses
        return Moment(events, spent, *about, readings, carried, judged)

    def _over(self) -> Over | None:
        return over(self.ended, self.deadline_at_ms, self.shield.clock())

    def _charge(self, event: Event, spent: Amounts) -> Event:
        _, tokens, cost, _, _ = spent
        return Charge(
            id=self.new_id(), at=event.at, run=event.run, tool=event.tool, risk=event.risk,
            traits=event.traits, call=event.id, tokens=tokens, cost_microusd=cost,
        )  # fmt: skip

    def let_in(self, digest: str) -> None:
        """Remember an image or sound that a result brought and the policy let in: the model may be
        shown it."""
        self._media[digest] = None
        if len(self._media) > MOST_MEDIA:
            self._media.popitem(last=False)

    def has_let_in(self, digest: str) -> bool:
        """Whether a result of this run, or of one above it, has brought that and it was let in."""
        return digest in self._media or (self.above is not None and self.above.has_let_in(digest))

    def known(self, plans: Plans, tool: str, declared: Declared = UNDECLARED) -> ToolKnown:
        """What is known of a tool by its policy, its registration and the function that is called:
        once a run has met a strict declaration of a name, a milder one changes nothing."""
        facts = plans.tools.get(tool)
        if facts is None or not declared.is_in(facts):
            said = [declared, *self.shield.registered(tool)]
            if facts is not None:
                said += [Declared(facts.risk, effect_of(facts.traits), sinks=facts.sinks)]
            self.shield.meet((tool,))
            if len(plans.tools) >= 1_024:
                plans.tools.clear()
            policy: Any = plans.policy
            facts = plans.tools[tool] = policy.known(tool, *said)
        return facts

    def fitted(self, moment: Moment, plans: Plans) -> tuple[Moment, bool]:
        """A moment as it can be judged, and whether it is long: one that is too large is refused
        unread, and one that was made just before a reload is made to fit the policy it is judged
        by."""
        left = room_left(moment.events[0], CEILING)
        if left < 0:
            moment = refused_unread(moment, plans.policy.shadow)
        is_long = 0 <= left < CEILING - LONG
        if moment.events[0].run is plans.run:
            return moment, is_long
        risk, traits, *_ = self.known(plans, moment.events[0].tool)
        events = tuple(
            msgspec.structs.replace(event, run=plans.run, risk=risk, traits=traits)
            for event in moment.events
        )
        return msgspec.structs.replace(moment, events=events), is_long

    def time_left_s(self, tool: str, declared_s: float | None) -> float | None:
        """How long a tool may take: the least of its own limit, the policy's and the run's
        deadline."""
        limits = [self.limit_s(tool, declared_s)]
        if self.deadline_at_ms is not None:
            limits.append(max(0, self.deadline_at_ms - self.shield.clock()) / 1000)
        return min((limit for limit in limits if limit is not None), default=None)

    def limit_s(self, tool: str, declared_s: float | None) -> float | None:
        """How long a tool may be at work: the lesser of its own limit and the policy's."""
        entry = self.shield.policy.tool(tool)
        limits = (declared_s, None if entry is None else entry.timeout_s)
        return min((limit for limit in limits if limit is not None), default=None)

    def refusal(self, decision: Decision, undone: bool = False) -> Refused:
        """What a caller gets whose action does not go ahead, with whom to ask where a person is
        needed."""
        over = decision.action == Action.HALT or decision.code in USED_UP
        partial = self.produced() if over else ()
        roles = paused(decision, self.shield.policy.file.escalation).roles
        known = self.shield.beside(self, decision) if self.shield.policy.advises else None
        return Refused(decision, roles, partial, self.ticket_of(decision), undone, known)

    def waits_for(self, decision: Decision, ticket: str) -> None:
        """Remember the ticket that a decision waits for."""
        if len(self._tickets) >= MAX_OPEN:
            self._tickets.popitem(last=False)
        self._tickets[decision.id] = ticket

    def ticket_of(self, decision: Decision) -> str | None:
        """The ticket that a decision or its run waits for, or by which a person has refused it;
        `None` where there is none."""
        names = [
            one
            for one in decision.findings
            if one.code.startswith("approval.") or one.code == PAUSED
        ]
        refused_by = [finding.args[0] for finding in names]
        return str(refused_by[0]) if refused_by else self._tickets.get(decision.id)

    def opened(
        self,
        decision: Decision,
        tool: str,
        args: dict[str, Any],
        spent: Amounts,
        lent: frozenset[int] = frozenset(),
    ) -> None:
        """Remember a call that goes ahead until its outcome is reported."""
        self.under_way.over(decision.id)
        if len(self._open) >= MAX_OPEN:
            self._streaming.discard(self._open.popitem(last=False)[0])
        at = self.shield.clock() if self.measures else 0
        self._open[decision.id] = OpenedCall(tool, args, decision.held, spent, at, lent)

    def made(self, call: str) -> bool:
        """Whether this very run has made a call, here, and not a process before it."""
        return call.startswith(self._prefix)

    @property
    def pays(self) -> bool:
        """Whether the run has anything left for deep rules that cost something: no budget of it was
        used up lately."""
        return self.shield.answers.unpaid.pays(self.plans.policy, self.info, self.shield.clock())

    def owed(self, moment: Moment, decision: Decision) -> None:
        """Keep late answers that a decision could not enter (the store was lost, a gate was closed)
        for the next."""
        heard = {(finding.code, finding.args) for finding in decision.findings + decision.shadow}
        for finding in moment.late:
            if finding.guard != "kernel" and (finding.code, finding.args) not in heard:
                self._late.append(finding)

    def answer_at_once(self, ask: Ask) -> tuple[Answer, ...] | None:
        """All answers, where none has to be waited for, and all are written down as they are:
        short, and with no names to hide."""
        given = self.answering.at_once(ask)
        texts = texts_in(given)
        long = sum(map(len, texts)) > LONG
        return None if long or self.shield.policy.veil.pairs(texts) else given

    def remembers(self) -> Provenance | None:
        """The memory of where values come from; `None` where no guard of the policy asks for it."""
        if self.provenance is None and self.shield.policy.recalls is not None:
            from stanchion.runtime.answers.provenance import remembering

            with self.counting:
                if self.provenance is None:
                    shown = self.shield.policy.veil.name
                    self.provenance = remembering(self.info, self.store, shown)
        return self.provenance

    def carrying(self, moment: Moment) -> Moment:
        """A moment whose decision carries to the store and back what the run's processes learn."""
        if moment.carried is not None:
            return moment
        memory, guard = self.remembers(), self.shield.policy.recalls
        entry = (
            None if memory is None or guard is None else memory.entry(moment, guard, self._tells)
        )
        return moment if entry is None else msgspec.structs.replace(moment, carried=entry)

    def learn(self, moment: Moment, decision: Decision) -> None:
        """Remember what an event that was judged tells of where values come from."""
        memory, guard = self.remembers(), self.shield.policy.recalls
        if memory is not None and guard is not None:
            memory.learn(moment, decision, guard, self._tells)

    def _tells(self, tool: str) -> ToolKnown:
        """What is known of a tool."""
        facts = self.plans.tools.get(tool)
        return self.known(self.plans, tool) if facts is None else facts

    def surrounded(self) -> Surroundings:
        """What the run keeps of its way, for code that asks for the context of an event."""
        with self.counting:
            if self._surroundings is None:
                from stanchion.runtime.answers.surroundings import Surroundings

                self._surroundings = Surroundings()
            return self._surroundings

    def _context(self, event: Any) -> Any:
        return self.surrounded().context(self.plans, event)

    def _recalled(self, question: Recall) -> Any:
        memory = self.remembers()
        return None if memory is None else memory.answer(question, self._tells)

    def _answered_late(self, policy: str, lookup: Lookup, value: Any) -> None:
        placed = self.shield.placed(policy, lookup.guard)
        finding = (
            None
            if placed is None
            else late_finding(placed, self.plans.policy.read(lookup.payload), value)
        )
        if finding is not None:
            self.enters(finding)

    def enters(self, finding: Finding) -> None:
        """Have a finding enter the run's next event."""
        self._late.append(finding)

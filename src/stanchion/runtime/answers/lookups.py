"""Answering lookups: a user's code judges in a thread or a task, within its deadline."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

from stanchion.kernel.actions import Action
from stanchion.kernel.events import ModelCall
from stanchion.kernel.lookups import Answer, Answered, Ask, Expired, Failed, Lookup, Over, Recall
from stanchion.kernel.state import Batch
from stanchion.kernel.units import LARGEST, Amounts
from stanchion.runtime.answers.pool import CONTEXT, STOP, LanePool
from stanchion.runtime.answers.question import LaneQuestion, Lingering

if TYPE_CHECKING:
    from asyncio import Future

    from stanchion.runtime.answers.deep import DeepRule, Inbox, RuleQuestion

Answerer = Callable[..., Any]
Find = Callable[[str, str], Answerer | None]
"""Gives the code that answers for a guard of a policy, by the policy's hash and the guard's id."""
Recalls = Callable[[Recall], Any]
"""Answers from the run's own memory."""
OnLate = Callable[[str, Lookup, Any], None]
"""Called with the policy's hash, a lookup and the value of its answer when that comes after the
deadline."""
Surrounds = Callable[[Any], Any]
"""Gives the context of an event."""
Keeps = Callable[[str, str], bool]
"""Says whether an action went ahead where a guard's answer was late, so that it is still worth
asking."""

CLOSED: Final = Over(Action.HALT, "kernel.ended", ("its shield was closed",))
"""What stands against what was asked when its shield was closed."""
IsOver = Callable[[], Over | None]
"""Says whether the run is over by now, and why."""


class LookupAnswering:
    """Asks the code that is known for each guard; what it does not know fails closed."""

    def __init__(
        self,
        find: Find,
        on_late: OnLate,
        recalls: Recalls,
        keeps: Keeps,
        pool: LanePool,
        context: Surrounds = lambda _event: None,
        tenant: str = "",
        payer: Payer | None = None,
        over: IsOver = lambda: None,
    ) -> None:
        self._over = over
        self._tenant, self._payer = tenant, payer
        self._inbox: Inbox | None = None
        self._rules: dict[str, tuple[str, DeepRule | None]] = {}
        self._find = find
        self._on_late = on_late
        self._recalls = recalls
        self._keeps = keeps
        self._pool = pool
        self._context = context
        self._epoch = pool.epoch
        self._asked: set[LaneQuestion | Lingering] = set()

    def answer(self, ask: Ask) -> tuple[Answer, ...]:
        """All answers, asked side by side, each an answer or its expiry; or that the run is
        over."""
        if (over := self._over()) is not None:
            return (over,) * len(ask.lookups)
        return self._unless_over(ask, self._answered(ask))

    def _answered(self, ask: Ask) -> tuple[Answer, ...]:
        if len(ask.lookups) == 1:
            lookup = ask.lookups[0]
            put = self._put(ask.policy, lookup)
            answer = put.wait() if isinstance(put, LaneQuestion) else put
            return (Expired(lookup.deadline_ms) if answer is None else answer,)
        asked = [(lookup, self._put(ask.policy, lookup)) for lookup in ask.lookups]
        return tuple(
            [
                _or_expired(one.wait() if isinstance(one, LaneQuestion) else one, lookup)
                for lookup, one in asked
            ]
        )

    async def aanswer(self, ask: Ask) -> tuple[Answer, ...]:
        """The same on an event loop."""
        import asyncio

        if (over := self._over()) is not None:
            return (over,) * len(ask.lookups)
        given = await asyncio.gather(
            *[self._ask_in_loop(ask.policy, lookup) for lookup in ask.lookups]
        )
        return self._unless_over(ask, tuple(given))

    def _unless_over(self, ask: Ask, given: tuple[Answer, ...]) -> tuple[Answer, ...]:
        """The answers, unless the run has ended meanwhile: then none counts, and what did not come
        is not late. What is asked beside its event was not waited for."""
        if all(lookup.beside for lookup in ask.lookups):
            return given
        over = self._over()
        if (
            over is None
            and self._pool.closed
            and not all(isinstance(one, Answered) for one in given)
        ):
            over = CLOSED
        return given if over is None else (over,) * len(given)

    def stop(self) -> None:
        """Nobody wants answers any more: the run is over."""
        for one in list(self._open()):
            one.abandon()

    def _open(self) -> set[LaneQuestion | Lingering]:
        """What is asked and not answered; what was asked before a fork is the parent's."""
        if self._epoch != self._pool.epoch:
            self._epoch, self._asked, self._inbox = self._pool.epoch, set(), None
        return self._asked

    def at_once(self, ask: Ask) -> tuple[Answer, ...] | None:
        """All answers, where none has to be waited for."""
        given: list[Answer] = []
        for lookup in ask.lookups:
            known = self._known_at_once(ask.policy, lookup)
            if known is None:
                return None
            given.append(known)
        return tuple(given)

    def _known_at_once(self, policy: str, lookup: Lookup) -> Answer | None:
        """The answer of the run's own memory, and of a disk of this machine."""
        recalls = type(lookup.payload) is Recall
        found = None if recalls else self._find(policy, lookup.guard)
        answers = self._recalls if recalls else getattr(found, "at_once", None)
        try:
            return None if answers is None else Answered(answers(lookup.payload))
        except BlockingIOError:
            return None
        except Exception as error:  # noqa: BLE001 - what fails answers nothing, and the guard fails closed
            return Failed(type(error).__name__)

    def _put(self, policy: str, lookup: Lookup) -> LaneQuestion | Answer | None:
        """Put a lookup to the pool; an answer where it is known at once, `None` where nobody would
        be in time."""
        if (at_once := self._known_at_once(policy, lookup)) is not None:
            return at_once
        entry, known = self._entered(policy, lookup)
        if known is not None:
            return known
        answerer = self._find(policy, lookup.guard)
        if answerer is None:
            if entry is not None:
                entry.answered(None)
            return Failed("NoAnswerer")
        lane = self._pool.lane(lookup.guard)
        takes = lane.takes(answerer)

        def ended(question: LaneQuestion) -> None:
            self._asked.discard(question)
            lane.leave(question)

        beside = lookup.beside
        question = LaneQuestion(
            self._with_context(answerer, takes, lookup) if takes else answerer,
            lookup.payload,
            entry.until
            if entry is not None and beside
            else time.monotonic() + lookup.deadline_ms / 1000,
            entry is not None
            or self._keeps(policy, lookup.guard),  # what a deep rule says late is always heard
            threading.Event() if STOP in takes else None,
            lambda value: self._on_late(policy, lookup, value),
            ended,
            entry,
            beside,
        )
        if entry is not None:
            entry.one = question
            self._asked.add(question)  # it was looked at when the question was entered
        else:
            self._open().add(question)
        worth = lane.enter(question)
        if (
            beside
        ):  # however soon it answers: whether a call hears of it does not depend on who is faster
            return None
        return question if worth else question.expire()

    def _entered(self, policy: str, lookup: Lookup) -> tuple[RuleQuestion | None, Answer | None]:
        """Enter a deep rule's question: its account, and its answer where that is known or it is
        not to be asked."""
        known = self._rules.get(lookup.guard)
        if known is None or known[0] != policy:
            known = self._rules[lookup.guard] = (policy, self._pool.rule(policy, lookup.guard))
        rule = known[1]
        if rule is None:
            return None, None
        self._open()
        if self._inbox is None:
            self._inbox = rule.inbox()
        entered = rule.enter(self._tenant, lookup.payload, self._inbox, self._charge, self._pays)
        if entered is None:
            return None, Expired(lookup.deadline_ms)
        return (None, entered) if isinstance(entered, Answered) else (entered, None)

    def _pays(self) -> bool:
        return self._payer is None or self._payer.pays

    def _charge(self, tokens: int, cost_microusd: int) -> None:
        """Have the run pay for an answer."""
        if self._payer is not None:
            owe_cost(self._payer, tokens, cost_microusd)

    def _with_context(self, answerer: Answerer, takes: frozenset[str], lookup: Lookup) -> Answerer:
        return (
            partial(answerer, context=self._context(lookup.payload))
            if CONTEXT in takes
            else answerer
        )

    async def _ask_in_loop(self, policy: str, lookup: Lookup) -> Answer:
        import inspect

        answerer = self._find(policy, lookup.guard)
        if type(lookup.payload) is not Recall and inspect.iscoroutinefunction(answerer):
            return await self._ask_task(policy, lookup, answerer)
        put = self._put(policy, lookup)
        return _or_expired(
            await put.await_answer() if isinstance(put, LaneQuestion) else put, lookup
        )

    async def _ask_task(self, policy: str, lookup: Lookup, answerer: Answerer) -> Answer:
        """Ask async code in a task of this loop. One that is late may still answer, for the run's
        next event."""
        import asyncio

        entry, known = self._entered(policy, lookup)
        if known is not None:
            return known
        lane = self._pool.lane(lookup.guard)
        takes = lane.takes(answerer)
        stop = threading.Event() if STOP in takes else None
        code = self._with_context(answerer, takes, lookup)
        task = asyncio.ensure_future(
            code(lookup.payload, **({} if stop is None else {"stop": stop}))
        )
        one = Lingering(task, asyncio.get_running_loop(), entry, stop)
        if entry is not None:
            entry.one = one
        self._open().add(one)
        if not lookup.beside:
            try:
                await asyncio.wait({task}, timeout=lookup.deadline_ms / 1000)
            except BaseException:
                task.cancel()
                self._asked.discard(one)
                one.dropped()
                raise
            finally:
                if stop is not None and entry is None:
                    stop.set()
            if task.done():
                self._asked.discard(one)
                return one.over(_answer_of(task))
            one.expired()

        def late(ended: Future[Any]) -> None:
            lane.gone(ended)
            self._asked.discard(one)
            answer = one.over(_answer_of(ended))
            if isinstance(answer, Answered):
                self._on_late(policy, lookup, answer.value)

        lane.linger(one)
        task.add_done_callback(late)
        return Expired(lookup.deadline_ms)


def _or_expired(answer: Answer | None, lookup: Lookup) -> Answer:
    return Expired(lookup.deadline_ms) if answer is None else answer


def _answer_of(task: Future[Any]) -> Answer:
    if task.cancelled():
        return Failed("CancelledError")
    error = task.exception()
    return Answered(task.result()) if error is None else Failed(type(error).__name__)


class Payer(Protocol):
    """A run, as far as something can be charged to it."""

    info: Any
    measures: frozenset[int]

    @property
    def pays(self) -> bool:
        """Whether it has anything left to pay with, as far as is known."""

    @property
    def shield(self) -> Any: ...

    @property
    def plans(self) -> Any: ...
    def event(self, kind: type[Any], tool: str = "") -> Any: ...
    def new_id(self) -> str: ...


def owe_cost(desk: Payer, tokens: int, cost_microusd: int) -> None:
    """Leave what an answer has cost to the run's next trip to the store. It is spent already, so it
    is counted whatever it exceeds; what comes after it is judged by what is left then."""
    if not desk.measures:
        return
    plan = desk.plans.of((desk.event(ModelCall),), "")
    lines = tuple([line._replace(bands=(), hold_ms=0) for line in plan.lines if not line.follows])
    spent: Amounts = (0, _at_most(tokens), _at_most(cost_microusd), 1, 0)
    if lines:
        desk.shield.unsettled.keep(
            Batch(desk.new_id(), desk.info.tenant, lines=lines, amounts=spent)
        )


def _at_most(amount: int) -> int:
    """What somebody else says that was used, as far as one action can use it: no store forgets it
    for its size."""
    return min(max(amount, 0), LARGEST - 1)

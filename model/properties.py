"""The properties: the engine and a store do what the model says; each is a plain function that
raises."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import closing
from typing import Any

from model.compare import compare, compare_replay, compare_state
from model.decide import Expected, expect, expect_judged, expect_lost
from model.drawn.case import Case, Feature
from model.drawn.moments import RUNS, Step, draw_step
from model.drawn.policy import DrawnPolicy
from model.history import History
from model.refusals import entered
from model.store import StoreModel
from stanchion.kernel.actions import Action
from stanchion.kernel.chain import Plans
from stanchion.kernel.decision import Decision
from stanchion.kernel.engine import TRIES, decide
from stanchion.kernel.findings import Patch
from stanchion.kernel.happened import has_happened
from stanchion.kernel.lookups import Answer, Ask, Lookup
from stanchion.kernel.patches import apply
from stanchion.kernel.refusals import is_entry
from stanchion.kernel.state import Batch, Reply, StoreLost, When
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.testing.clock import FakeClock
from stanchion.testing.interleave import interleave
from stanchion.testing.store_suite.chance import random_batch
from stanchion.testing.store_suite.desk import Make

NO_AGE = -1_000_000
"""A maximum age that no knowledge of the gates is under: every decision asks the store."""

ALL_DUE_MS = 1_000
"""After this long every hold that a drawn guard takes is due."""

MAX_TRIPS = 20
"""More trips than a decision may make."""


def drive(
    deciding: Any, store: Store, answers: Mapping[str, Answer], lost: bool = False
) -> Decision:
    """Give a decision what it asks for, until it is made; with `lost` the store is."""
    given: Any = None
    try:
        for _ in range(MAX_TRIPS):
            need = deciding.send(given)
            if isinstance(need, Ask):
                given = tuple(answers[lookup.name] for lookup in need.lookups)
            elif lost:
                need = deciding.throw(StoreLost())
            else:
                given = store.carry(need)
    except StopIteration as stop:
        made: Decision = stop.value
        return made
    raise AssertionError(f"no decision after {MAX_TRIPS} trips")


class Processes:
    """Some processes that share a store: each has its own records, and plans for each run."""

    def __init__(self, policy: DrawnPolicy, max_age_ms: int, count: int = 3) -> None:
        self.records: list[dict[str, tuple[int, Any]]] = [{} for _ in range(count)]
        self._plans = [
            {run.id: Plans(policy, run, policy.can, max_age_ms) for run in RUNS}
            for _ in range(count)
        ]

    def plans(self, step: Step) -> Plans:
        """The plans of the step's run in the step's process."""
        return self._plans[step.process][step.moment.events[0].run.id]


def check_batches(case: Case, make: Make = MemoryStore) -> None:
    """Batches of any shape get the model's replies, and leave what the model says they leave."""
    drawn = case.drawn(0)
    clock = FakeClock()
    model = StoreModel()
    with closing(make(clock)) as store:
        for number in range(case.moments):
            clock.advance(drawn.choice((0, 0, 1, 400, 3_000)))
            batch = random_batch(drawn, number)
            got, want = store.carry(batch), model.carry(batch, clock())
            if got != want:
                raise AssertionError(
                    f"batch {number} of {case}: the reply to {batch!r} is\n  {got!r}\nnot\n  "
                    f"{want!r}"
                )
        compare_state(store, model.history, case)


def check_spans(case: Case) -> None:
    """Of a text nothing survives that a span covers, all else does, and each overlap is replaced
    once."""
    drawn = case.drawn(0)
    text = "".join(chr(0x3B1 + number) for number in range(24))
    spans = []
    for _ in range(case.moments):
        start = drawn.randrange(len(text))
        spans.append(
            Patch(
                (), drawn.choice("123"), start, drawn.randint(start + 1, min(start + 6, len(text)))
            )
        )
    pieces = []
    for at, char in enumerate(text):
        over = [span for span in spans if span.start <= at < span.end]
        begins = over and all(span.start == at for span in over)
        pieces.append(
            max(over, key=lambda span: span.end).value if begins else "" if over else char
        )
    if apply(text, spans) != "".join(pieces):
        raise AssertionError(f"{spans!r} make {apply(text, spans)!r}, not {''.join(pieces)!r}")


def check_decisions(case: Case, make: Make = MemoryStore) -> None:
    """Decisions made one after the other are the model's, and so is what they leave in the
    store."""
    policy = DrawnPolicy(case)
    clock = FakeClock()
    history = History()
    max_age_ms = 500 if case.has(Feature.YOUNG) else NO_AGE
    processes = Processes(policy, max_age_ms)
    with closing(make(clock)) as store:
        for number in range(case.moments):
            step = draw_step(case, number, clock())
            history.at(clock.advance(step.wait_ms))
            operate(step, number, store, history)
            plans, records = processes.plans(step), processes.records[step.process]
            at = step.moment.events[0].at
            confirmed, told = plans.confirmed, plans.told
            young = confirmed >= 0 and 0 <= at - confirmed <= max_age_ms
            before = dict(records)
            decision = drive(decide(plans, step.moment, records), store, step.answers, step.lost)
            if step.lost:
                expected = expect_lost(
                    policy,
                    step.moment,
                    step.answers,
                    policy.can,
                    before,
                    not young,
                    confirmed,
                    told,
                )
            else:
                expected = expect(
                    policy,
                    step.moment,
                    history,
                    step.answers,
                    policy.can,
                    before if young else None,
                )
            compare(decision, expected, f"moment {number} of {case}")
            compare_replay(policy, step, decision)
        compare_state(store, history, case)


def check_interleaved(case: Case, make: Make = MemoryStore) -> None:
    """Decisions of several processes made at once are the model's in the order in which their
    batches arrived."""
    policy = DrawnPolicy(case)
    clock = FakeClock()
    history = History()
    processes = Processes(policy, NO_AGE)
    steps = [draw_step(case, number, clock()) for number in range(case.moments)]
    drawn = case.drawn(99)
    deciding = []
    for number, step in enumerate(steps):
        deciding.append(decide(processes.plans(step), step.moment, processes.records[step.process]))
        if step.put is not None:
            deciding.append(_operating(number, step))
    owners = [at for at, step in enumerate(steps) for _ in range(2 if step.put is not None else 1)]

    def answer(who: int, lookup: Lookup) -> Answer:
        return steps[owners[who]].answers[lookup.name]

    def pass_time() -> None:
        clock.advance(drawn.choice((0, 0, 0, 0, 1, 25)))

    with closing(make(clock)) as store:
        done = interleave(deciding, store, drawn.randrange, answer, pass_time)
        expected: dict[int, Expected] = {}
        apart = {trip.who for trip in done.trips if is_entry(trip.batch)}
        for trip in done.trips:
            step = steps[owners[trip.who]]
            if trip.reply is None or trip.reply.stale:
                continue
            history.at(trip.reply.now)
            if trip.batch.id.startswith("operator-") and step.put is not None:
                history.puts.append(step.put)
                continue
            if is_entry(trip.batch):
                expected[trip.who] = entered(
                    policy, step.moment, history, expected[trip.who], policy.can
                )
            else:
                expected[trip.who] = expect_judged(
                    policy, step.moment, history, step.answers, policy.can
                )
                if trip.who not in apart:
                    expected[trip.who] = entered(
                        policy, step.moment, history, expected[trip.who], policy.can
                    )
        for who, should in expected.items():
            compare(done.decisions[who], should, f"decision {who} of {case}")
            compare_replay(policy, steps[owners[who]], done.decisions[who])
        for who in set(range(len(deciding))) - set(done.applied):
            tries = [trip for trip in done.trips if trip.who == who]
            said = [
                finding.code
                for finding in (*done.decisions[who].findings, *done.decisions[who].shadow)
            ]
            happened = has_happened(steps[owners[who]].moment.events[0])
            if len(tries) != TRIES or said != [
                "kernel.done_unsettled" if happened else "kernel.contention"
            ]:
                raise AssertionError(
                    f"decision {who} of {case} was not applied, but made: {done.decisions[who]!r}"
                )
            compare_replay(policy, steps[owners[who]], done.decisions[who])
        clock.advance(drawn.choice((0, ALL_DUE_MS)))
        compare_state(store, history, case)


def _operating(number: int, step: Step) -> Generator[Batch, Reply, Decision]:
    """An operator's change, among decisions."""
    if step.put is not None:
        name, value = step.put
        yield Batch(f"operator-{number}", puts=((name, value, When.JUDGED, 0, 0),))
    return Decision(f"operator-{number}", Action.ALLOW, "")


def operate(step: Step, number: int, store: Store, history: History) -> None:
    """Let an operator change a gate."""
    if step.put is not None:
        name, value = step.put
        store.carry(Batch(f"operator-{number}", puts=((name, value, When.JUDGED, 0, 0),)))
        history.puts.append((name, value))

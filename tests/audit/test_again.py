"""A record has all that its decision was made from: judged again from its bytes, it is the same
decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import msgspec
import pytest
from hypothesis import given

from model.drawn.case import Case, Feature
from model.drawn.moments import Step, draw_step
from model.drawn.policy import DrawnPolicy
from model.history import History
from model.properties import NO_AGE, Processes, drive, operate
from model.trial import drawn_cases
from stanchion import Refused, Shield
from stanchion.audit.apart import encode, entry_from
from stanchion.audit.journal import Start, begun
from stanchion.audit.notes import RunBegun
from stanchion.audit.rebuilt import inputs_of, moment_of
from stanchion.audit.record import GENESIS, RecordEntry, entry_of
from stanchion.kernel.actions import Action
from stanchion.kernel.content import content_of, with_content
from stanchion.kernel.decision import Decision, Inputs
from stanchion.kernel.engine import decide
from stanchion.kernel.events import Charge, Event, Moment, RunInfo
from stanchion.kernel.findings import Finding, Patch, Wait
from stanchion.kernel.lookups import Answer, Ask, Lookup
from stanchion.kernel.replay import replay
from stanchion.kernel.stages import Stage
from stanchion.kernel.state import Batch, Crowded, Reply
from stanchion.stores.memory import MemoryStore
from stanchion.testing.clock import FakeClock
from stanchion.testing.interleave import interleave
from tests.properties.examples import cases, sample
from tests.runtime.guards import says

Made = tuple[DrawnPolicy, Moment, Decision]


def as_the_runtime_makes_it(step: Step) -> Step:
    """A drawn step with the names and the charge that the runtime gives: a charge belongs to the
    event beside it."""
    drawn = step.moment
    first = msgspec.structs.replace(drawn.events[0], id=drawn.events[0].id.removeprefix("m"))
    events: tuple[Event, ...] = (first,)
    if len(drawn.events) > 1:
        charge = Charge(
            id=f"{first.id}.c",
            at=first.at,
            run=first.run,
            call=first.id,
            tool=first.tool,
            risk=first.risk,
            tokens=drawn.amounts[1],
            cost_microusd=drawn.amounts[2],
        )
        events = (first, charge)
    settles = tuple((hold.removeprefix("m"), spent) for hold, spent in drawn.settles)
    return step._replace(moment=msgspec.structs.replace(drawn, events=events, settles=settles))


def one_by_one(case: Case) -> Iterator[Made]:
    """The decisions of a case, made one after the other."""
    policy = DrawnPolicy(case)
    clock = FakeClock()
    store = MemoryStore(clock)
    processes = Processes(policy, 500 if case.has(Feature.YOUNG) else NO_AGE)
    for number in range(case.moments):
        step = as_the_runtime_makes_it(draw_step(case, number, clock()))
        clock.advance(step.wait_ms)
        operate(step, number, store, History())
        deciding = decide(processes.plans(step), step.moment, processes.records[step.process])
        yield policy, step.moment, drive(deciding, store, step.answers, step.lost)


def at_once(case: Case) -> Iterator[Made]:
    """The decisions of a case, made at once: state moves under them, and they are judged again."""
    policy = DrawnPolicy(case)
    clock = FakeClock()
    processes = Processes(policy, NO_AGE)
    steps = [
        as_the_runtime_makes_it(draw_step(case, number, clock())) for number in range(case.moments)
    ]
    drawn = case.drawn(99)

    def answer(who: int, lookup: Lookup) -> Answer:
        return steps[who].answers[lookup.name]

    deciding = [
        decide(processes.plans(step), step.moment, processes.records[step.process])
        for step in steps
    ]
    done = interleave(
        deciding, MemoryStore(clock), drawn.randrange, answer, lambda: _pass(clock, drawn)
    )
    for step, decision in zip(steps, done.decisions, strict=True):
        yield policy, step.moment, decision


def _pass(clock: FakeClock, drawn: Any) -> None:
    clock.advance(drawn.choice((0, 0, 0, 0, 1, 25)))


def is_patched(decision: Decision) -> bool:
    """Whether a record has other content than was judged."""
    return any(finding.patches for finding in (*decision.findings, *decision.shadow))


def read_back(moment: Moment, decision: Decision) -> tuple[RecordEntry, RunInfo]:
    """What the bytes of a decision's record, and of the one of its run's beginning, say."""
    parts = encode(entry_of(moment, decision, 7, GENESIS, "00000000000000aa"))
    run = moment.events[0].run
    start = begun(Start(run, 0, decision.policy), GENESIS, 0, "00000000000000aa")
    return entry_from(parts.body, parts.kept), msgspec.json.decode(start.body, type=RunBegun).run


def comparable(decision: Decision) -> bytes:
    """A decision's bytes; a record that was not there is as good as one that is not named."""
    inputs = decision.inputs
    there = tuple(known for known in inputs.records if known[1])
    known = msgspec.structs.replace(inputs, records=there)
    return msgspec.json.encode(
        msgspec.structs.replace(decision, inputs=known), order="deterministic"
    )


def check(policy: DrawnPolicy, moment: Moment, decision: Decision) -> None:
    """Complain where a decision made again from its record is another one."""
    entry, run = read_back(moment, decision)
    event: Any = moment.events[0]
    args = event.args if event.stage in (Stage.TOOL_RESULT, Stage.ERROR) else None
    found = moment_of(entry, run, args)
    if is_patched(decision) and event.stage != Stage.CHARGE:
        whole = with_content(found.events[0], content_of(event))
        found = msgspec.structs.replace(found, events=(whole, *found.events[1:]))
    again = replay(policy, run, found, inputs_of(entry), policy.can)
    assert comparable(again) == comparable(decision)


@sample(100, share=0.2)
@given(cases())
def test_a_record_judged_again_gives_the_same_decision(case: Case) -> None:
    """Content aside that was redacted: gates, answers, late ones, a lost store, holds, charges,
    lesser requests."""
    for made in one_by_one(case):
        check(*made)


@sample(60, share=0.1)
@given(cases(moments=(8, 12)))
def test_a_record_of_a_decision_that_was_overtaken_gives_the_same_decision(case: Case) -> None:
    """State that moved meanwhile, and contention up to the last try."""
    for made in at_once(case):
        check(*made)


def test_a_record_of_contention_gives_the_same_decision() -> None:
    """What could not be judged on anything has nothing but its mode, its time and its tries."""
    for case in drawn_cases(20, (1, 1)):
        policy, step = DrawnPolicy(case), as_the_runtime_makes_it(draw_step(case, 0, 1_000_000))
        deciding = decide(Processes(policy, NO_AGE).plans(step), step.moment, {})
        check(policy, step.moment, drive(deciding, _Moving(), step.answers))


def test_a_record_of_a_crowd_gives_the_same_decision() -> None:
    """Nobody was asked, because too many wait: that is another refusal than a store that is
    lost."""
    told = 0
    for case in drawn_cases(40, (1, 1)):
        policy, step = DrawnPolicy(case), as_the_runtime_makes_it(draw_step(case, 0, 1_000_000))
        deciding = decide(Processes(policy, NO_AGE).plans(step), step.moment, {})
        decision = _crowded_out(deciding, step.answers)
        check(policy, step.moment, decision)
        if decision.inputs.crowd == (4_812, 2_000):
            told += "kernel.crowded" in [
                finding.code for finding in (*decision.findings, *decision.shadow)
            ]
    assert told > 10


def _crowded_out(deciding: Any, answers: Mapping[str, Answer]) -> Decision:
    """The decision where too many wait for the store."""
    try:
        need = next(deciding)
        while True:
            if isinstance(need, Ask):
                need = deciding.send(tuple(answers[lookup.name] for lookup in need.lookups))
            else:
                need = deciding.throw(Crowded("4,812 others wait", 4_812, 2_000))
    except StopIteration as stop:
        made: Decision = stop.value
        return made


class _Moving(MemoryStore):
    """A store in which everything has moved whenever it is asked."""

    def carry(self, batch: Batch) -> Reply:
        return Reply(1_000_000, stale=True)


def test_everything_that_a_decision_is_made_from_occurs_in_the_sample() -> None:
    """The properties above are about what they say."""
    seen: Counter[str] = Counter()
    for case in drawn_cases(60, (8, 12)):
        for _, moment, decision in (*one_by_one(case), *at_once(case)):
            inputs = decision.inputs
            traits = {
                "a lost store": bool(inputs.lost),
                "judged again": inputs.stale > 0,
                "a reply": inputs.reply is not None,
                "no trip": inputs.reply is None and not inputs.lost,
                "records": any(version for _, version, _ in inputs.records),
                "answers": bool(inputs.answers),
                "late": bool(moment.late),
                "a lesser request": moment.attempt > 1,
                "a charge beside": len(moment.events) > 1,
                "settles": bool(moment.settles),
                "a mode": bool(inputs.mode),
                "another time": inputs.now != moment.events[0].at,
                "patched": is_patched(decision),
                "plain": not is_patched(decision),
                "passed": bool(decision.passed),
                "shadow": bool(decision.shadow),
            }
            seen.update({name: int(there) for name, there in traits.items()})
            seen[moment.events[0].stage] += 1
    assert {name: count for name, count in seen.items() if count < 5} == {}
    assert set(Stage) <= set(seen)


def test_a_record_with_more_beside_its_event_is_of_another_version() -> None:
    """Nothing is judged again from half of what was judged."""
    drawn, run = next(made for made in _all() if len(made[1].events) > 1), RunInfo("r")
    entry, _ = read_back(drawn[1], drawn[2])
    with pytest.raises(ValueError, match="another version"):
        moment_of(msgspec.structs.replace(entry, with_=("egress",)), run)


def _all() -> Iterator[Made]:
    for case in drawn_cases(60, (8, 12)):
        yield from one_by_one(case)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "not today",
        Finding(
            Action.WARN,
            "test.own",
            ("a", 1, None),
            text="careful",
            guidance="ask first",
            effects=("page",),
        ),
        Finding(Action.QUEUE, "test.own", terms=Wait(0, -1)),
        17,
    ],
)
def test_the_answer_of_a_users_own_guard_is_an_answer_again(answer: Any) -> None:
    """Also one that is a finding, and one that makes no sense."""

    def own(_event: Event) -> Any:
        return answer

    shield = Shield.load({"name": "own"}, guards=[own])
    run = shield.run("ann", "t1")
    decision = run.check("read", {"path": "a.txt"})
    (kept,) = shield.journal.kept()
    found = moment_of(kept.read(), run.desk.info)
    again = replay(shield.policy, run.desk.info, found, inputs_of(kept.read()))
    assert comparable(msgspec.structs.replace(again, inputs=Inputs())) == comparable(
        msgspec.structs.replace(decision, inputs=Inputs())
    )


def test_a_streamed_reply_was_judged_with_fewer_actions() -> None:
    """Its chunks are delivered, so that nothing can be redacted any more; its record says so."""
    guard = says(Action.REDACT, Stage.MODEL_REPLY, patches=(Patch((), "x"),))
    shield = Shield.load({"name": "x"}, guards=[guard], store="memory:", journal="memory:")
    run = shield.run()
    with suppress(Refused):
        list(run.stream(["a", "b"]))
    entry = shield.journal.kept()[-1].read()
    again = replay(shield.policy, run.desk.info, moment_of(entry, run.desk.info), inputs_of(entry))
    assert again.action.name == entry.action

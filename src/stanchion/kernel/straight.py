"""The straight way: an event about which no guard has anything to say is decided by two plain
functions.

`prepare` judges it and lays out its one batch, `conclude` takes the store's reply. They do what the
phases of `decide` do, in their order, for the case that is by far the most frequent. What is not
quiet is the engine's, with what was found so far: nothing was taken before the batch, and a reply
that is not quiet is handed on as it is.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from stanchion.kernel.actions import UNCHANGED, Action
from stanchion.kernel.chain import Plan, Plans
from stanchion.kernel.decision import Decision, Inputs, Known
from stanchion.kernel.events import Moment
from stanchion.kernel.guard import Reading
from stanchion.kernel.judgement import (
    Found,
    answers_of,
    heard,
    judge_answers,
    judge_pure,
    lookups_of,
)
from stanchion.kernel.layout import watched
from stanchion.kernel.lineup import Asks
from stanchion.kernel.lookups import Answer, Ask
from stanchion.kernel.soundness import sound_ruling
from stanchion.kernel.state import (
    ABSENT,
    CLOCK,
    FOREVER,
    Batch,
    Records,
    Reply,
)
from stanchion.kernel.states import NORMAL

Judged = tuple[Plan, Found, int, dict[str, Answer]]
"""What the pure guards of a plan have found in an event, where they stop, and what was answered."""

Answers = Callable[[Ask], tuple[Answer, ...] | None]
"""Answers what is known at once; `None` where somebody would have to be waited for."""


class Prepared(msgspec.Struct, gc=False):
    """A quiet event that waits for the store: its batch, the records that it is judged on, those
    that it writes, and the answers. Without a batch nothing is left for the store."""

    batch: Batch | None
    used: tuple[Known, ...]
    wrote: tuple[Known, ...]
    answers: dict[str, Answer]


def prepare(
    plans: Plans,
    plan: Plan,
    moment: Moment,
    records: Records,
    answering: Answers,
) -> Prepared | Judged | None:
    """Judge a moment of one event as far as that goes without the store, and without waiting for
    answers; where it is not quiet, what is known of it by then."""
    watch = plans.watch
    for name, known in watch[0]:
        if records.get(name, ABSENT) is not known:
            watch = plans.look(records)
            break
    if watch[3] or plan.run.may is not plans.run.may:
        return None
    used, expects, puts, wrote = [*watch[2]], [*watch[1]], [], []
    gates, since, until = len(expects), plan.since, plan.until
    carried, event, readings = moment.carried, moment.events[0], moment.readings
    if carried is not None:
        expects += carried.expects()
    answers: dict[str, Answer] = {}
    found, cut, asks = judge_pure(plan, readings)
    judged = plan, found, cut, answers
    if found:
        return judged
    if asks and not _answered(plan, asks, readings, answers, answering):
        return judged
    try:
        for _pos, judge, name, _index, when, behind, shadow in plan.records:
            version, value = records.get(name, ABSENT)
            used.append((name, version, value))
            expects.append((name, version, version + 1))
            ruling = judge(readings[0], value, event.at)
            if ruling is None:
                continue
            sound_ruling(ruling)
            if ruling.finding is not None or (type(value) is dict and "marks" in value):
                return judged
            since, until = max(since, ruling.since), min(until, ruling.until)
            if ruling.put is not None:
                at = when if ruling.when is None else ruling.when
                puts.append((name, ruling.put, at, behind, shadow))
                wrote.append((name, version + 1, ruling.put))
    except Exception:  # noqa: BLE001 - a guard may raise anything: the engine says what follows
        return judged
    if since > 0 or until < FOREVER:
        expects.append((CLOCK, since, until))
    if (
        not plan.lines
        and len(expects) == gates
        and not moment.settles
        and plans.confirmed >= 0
        and 0 <= event.at - plans.confirmed <= plans.max_age_ms
    ):
        return Prepared(None, tuple(used), (), answers)
    if carried is not None:
        puts += carried.puts(())
    batch = Batch(
        event.id, event.run.tenant, True, tuple(expects), moment.settles, plan.lines,
        moment.amounts, tuple(puts), UNCHANGED,
    )  # fmt: skip
    return Prepared(batch, tuple(used), tuple(wrote), answers)


def _answered(
    plan: Plan,
    asks: Asks,
    readings: tuple[Reading, ...],
    answers: dict[str, Answer],
    answering: Answers,
) -> bool:
    """Whether everything that is asked is answered at once, and no answer is held against the
    event."""
    asked = lookups_of(plan, asks, readings, plan.end, answers)
    given = answering(Ask(tuple(asked), plan.policy)) if asked else ()
    if given is None:
        return False
    if asked:
        heard(answers, asked, given)
    return not answers or not judge_answers(plan, readings, answers, [], plan.end)[0]


def conclude(
    plans: Plans,
    plan: Plan,
    moment: Moment,
    prepared: Prepared,
    reply: Reply | None,
    records: Records,
) -> Decision | None:
    """The decision about a quiet event, once the store has carried its batch out; `None` where its
    reply is not quiet."""
    event, held = moment.events[0], False
    if reply is not None:
        if (
            reply.stale
            or reply.actions
            or not reply.go
            or (plan.watchers and watched(plan, (event,), [], plan.end, plan.slices, reply))
        ):
            return None
        plans.confirmed, plans.told = event.at, reply.now
        held = plan.holds
        if moment.carried is not None:
            moment.carried.kept(reply)
        for name, version, value in prepared.wrote:
            if records.get(name, ABSENT)[0] < version:
                records[name] = (version, value)
    answers = answers_of(plan, prepared.answers, plan.end) if prepared.answers else ()
    inputs = Inputs(prepared.used, answers, reply, "", NORMAL, event.at, 0, plans.limited)
    return Decision(
        event.id, Action.ALLOW, plan.policy, (), (), (), (), (), held, inputs, plan.passes,
        prepared.wrote, None, plan.lineup.trace,
    )  # fmt: skip

"""Replay: make a decision again from what was recorded of it, and nothing else."""

from __future__ import annotations

from typing import Any

from stanchion.kernel.actions import Action
from stanchion.kernel.chain import EVERY_ACTION, Plans, Policy
from stanchion.kernel.decision import Decision, Inputs
from stanchion.kernel.engine import TRIES, decide
from stanchion.kernel.events import Moment, RunInfo
from stanchion.kernel.gates import standing_key
from stanchion.kernel.lookups import Answer, Ask, Expired
from stanchion.kernel.refusals import is_entry
from stanchion.kernel.state import Batch, Crowded, Fresh, Records, Reply, StoreLost


class ReplayError(ValueError):
    """The recorded inputs do not belong to this moment, run and policy."""


def replay(
    policy: Policy,
    run: RunInfo,
    moment: Moment,
    inputs: Inputs,
    can: tuple[Action, ...] | None = None,
) -> Decision:
    """Make a decision again from its recorded inputs; the same policy and engine give it byte for
    byte.

    `can` is what the host could carry out, if not what is recorded. No store and no guard's lookup
    is asked: what they said is recorded.
    """
    plans = Plans(policy, run, could(inputs) if can is None else can)
    if inputs.confirmed is not None:
        plans.confirmed, plans.told = inputs.confirmed
        plans.max_age_ms = -1
    last = _last(inputs)
    sent = last is not None
    stale = [Reply(inputs.now, stale=True)] * min(inputs.stale, TRIES)
    said: list[Any] = [*stale, *[last] * sent]
    answers: dict[str, Answer] = dict(inputs.answers)
    deciding = decide(plans, moment, _records(run, inputs))
    given: Any = None
    try:
        # Fed by hand: everything it may need was recorded, and nothing is asked of the world.
        while True:
            if not said and not sent:
                plans.confirmed = moment.events[0].at
            raises = isinstance(given, StoreLost)
            need = deciding.throw(given) if raises else deciding.send(given)
            if isinstance(need, Ask):
                given = tuple(
                    [answers.get(one.name, Expired(one.deadline_ms)) for one in need.lookups]
                )
            elif isinstance(need, Batch) and is_entry(need):
                given = _entered(need, inputs) if inputs.refused else StoreLost()
            elif said:
                given = said.pop(0)
            else:
                break
    except StopIteration as stop:
        made: Decision = stop.value
        return made
    raise ReplayError(
        f"the inputs of `{moment.id}` do not answer what it asks: give those recorded with it"
    )


def could(inputs: Inputs) -> tuple[Action, ...]:
    """What the host could carry out where a decision was made."""
    return tuple([Action(action) for action in inputs.can]) if inputs.can else EVERY_ACTION


def _entered(need: Batch, inputs: Inputs) -> Reply:
    """What the store said when a refusal was entered: that it was, or first how things really
    stood."""
    known = {name: (version, value) for name, version, value in inputs.refused}
    moved = [name for name, version, _ in need.expects if known.get(name, (version,))[0] != version]
    return Reply(
        inputs.now, stale=bool(moved), fresh=tuple([Fresh(name, *known[name]) for name in moved])
    )


def _last(inputs: Inputs) -> Reply | StoreLost | None:
    """What the store said in the last try, if it was asked: that it is lost, that a stake or what
    it held is, or its reply."""
    if inputs.lost:
        crowd = inputs.crowd
        return StoreLost(inputs.lost) if crowd is None else Crowded(inputs.lost, *crowd)
    if inputs.taken:
        return Reply(inputs.now, stale=True, fresh=(Fresh(inputs.taken, -1),))
    return inputs.reply


def _records(run: RunInfo, inputs: Inputs) -> Records:
    """The records that were judged on; where it came to no judgement, the mode is all that is left
    of them."""
    if inputs.stale >= TRIES:
        return {standing_key(run.tenant): (0, {"own": {"state": inputs.mode}})}
    return {name: (version, value) for name, version, value in (*inputs.refused, *inputs.records)}

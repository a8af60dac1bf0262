"""Replay: make a decision again from what was recorded of it, and nothing else."""

from __future__ import annotations

from stanchion.kernel.actions import Action
from stanchion.kernel.chain import EVERY_ACTION, Plans, Policy
from stanchion.kernel.decision import Decision, Inputs
from stanchion.kernel.engine import TRIES, Need, decide
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
    sent = bool(inputs.lost) or bool(inputs.taken) or inputs.reply is not None
    answers: dict[str, Answer] = dict(inputs.answers)
    deciding = decide(plans, moment, _records(run, inputs))
    try:
        if inputs.confirmed is not None:
            plans.confirmed, plans.told = inputs.confirmed
            plans.max_age_ms = -1
        if not sent and not inputs.stale:
            plans.confirmed = moment.events[0].at
        need = next(
            deciding
        )  # fed by hand: everything it may need was recorded, and nothing is asked of the world
        stale = 0
        while isinstance(need, Ask) or stale < inputs.stale or sent or _enters(need):
            if isinstance(need, Batch) and is_entry(need):
                need = (
                    deciding.send(_entered(need, inputs))
                    if inputs.refused
                    else deciding.throw(StoreLost())
                )
            elif isinstance(need, Ask):
                given = tuple(
                    answers.get(lookup.name, Expired(lookup.deadline_ms)) for lookup in need.lookups
                )
                need = deciding.send(given)
            elif stale < inputs.stale:
                stale += 1
                if stale == inputs.stale and not sent:
                    plans.confirmed = moment.events[0].at
                need = deciding.send(Reply(inputs.now, stale=True))
            else:
                sent = False
                need = (
                    deciding.throw(_lost(inputs)) if inputs.lost else deciding.send(_reply(inputs))
                )
    except StopIteration as stop:
        made: Decision = stop.value
        return made
    raise ReplayError(
        f"the inputs of `{moment.id}` do not answer what it asks: give those recorded with it"
    )


def _lost(inputs: Inputs) -> StoreLost:
    """Why the store could not be asked."""
    return StoreLost(inputs.lost) if inputs.crowd is None else Crowded(inputs.lost, *inputs.crowd)


def could(inputs: Inputs) -> tuple[Action, ...]:
    """What the host could carry out where a decision was made."""
    return tuple([Action(action) for action in inputs.can]) if inputs.can else EVERY_ACTION


def _enters(need: Need) -> bool:
    """Whether a decision is made, and its refusal is to be entered."""
    return isinstance(need, Batch) and is_entry(need)


def _entered(need: Batch, inputs: Inputs) -> Reply:
    """What the store said when a refusal was entered: that it was, or first how things really
    stood."""
    known = {name: (version, value) for name, version, value in inputs.refused}
    moved = [name for name, version, _ in need.expects if known.get(name, (version,))[0] != version]
    return Reply(
        inputs.now, stale=bool(moved), fresh=tuple([Fresh(name, *known[name]) for name in moved])
    )


def _reply(inputs: Inputs) -> Reply | None:
    """What the store said; where a stake was lost, or what the store held, that it was."""
    if not inputs.taken:
        return inputs.reply
    return Reply(inputs.now, stale=True, fresh=(Fresh(inputs.taken, -1),))


def _records(run: RunInfo, inputs: Inputs) -> Records:
    """The records that were judged on; where it came to no judgement, the mode is all that is left
    of them."""
    if inputs.stale >= TRIES:
        return {standing_key(run.tenant): (0, {"own": {"state": inputs.mode}})}
    return {name: (version, value) for name, version, value in (*inputs.refused, *inputs.records)}

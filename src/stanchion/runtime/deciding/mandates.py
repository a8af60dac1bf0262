"""What a run may do, where all its processes find it: nobody who opens the run anew gets more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stanchion.kernel.actions import Risk
from stanchion.kernel.compare_and_set import LEFT
from stanchion.kernel.decision import Decision
from stanchion.kernel.declared import LASTING
from stanchion.kernel.events import Moment
from stanchion.kernel.findings import Narrow
from stanchion.kernel.gates import Ending, ending_key, mandate_in, stop_of, with_mandate
from stanchion.kernel.mandate import OUTSIDE, Mandate, join, names_values, with_tool
from stanchion.kernel.state import StoreLost
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.driving.flow import Flow


def keep_mandate(desk: Desk) -> Flow[None]:
    """Keep what a run may do with its end, where every process of it looks before it judges. Where
    the store cannot be reached, it is kept with the next event."""
    mandate = desk.plans.run.mandate
    desk.unkept = not (yield from _changed(desk, lambda known: join(known, mandate)))


def narrow(desk: Desk, decision: Decision, terms: Narrow) -> Flow[None]:
    """Hold a run to what its planner says from here on, on top of all that holds it already; words
    that are refused have no plan."""
    if not decision.proceeds:
        return
    desk.narrow(Mandate((terms.layer,), planned=True))
    yield from keep_mandate(desk)


def allow_besides(desk: Desk, moment: Moment, decision: Decision) -> Flow[None]:
    """Remember a person's yes to a tool that is outside of what a run may do, for the rest of the
    run. A yes to what lasts, or to values beside those that are named, is for its one call."""
    event = moment.events[0]
    mandate, tool = event.run.mandate, event.tool
    effect = next((str(one.args[1]) for one in decision.findings if one.code == OUTSIDE), "")
    if (
        not (tool and effect and moment.has_a_yes and decision.proceeds)
        or effect in LASTING
        or event.risk >= Risk.CRITICAL
        or names_values(mandate, tool, effect)
    ):
        return
    yield from _changed(desk, lambda known: join(known, with_tool(mandate, tool)))


def _changed(desk: Desk, new: Callable[[Mandate], Mandate]) -> Flow[bool]:
    """Whether the store knows by now what is to be known of a run."""

    def changed(value: Any, _now: int) -> Any:
        known = mandate_in(value)
        after = new(known)
        if after is known or isinstance(stop_of(value), Ending):
            return LEFT
        return with_mandate(value, after)

    try:
        yield from desk.change(ending_key(desk.info.tenant, desk.info.id), changed)
    except StoreLost:
        return False
    return True

"""Idle options: what a guard's entry says that nothing acts on at the stages where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from stanchion.guards.budget import ACTS, MEASURES, Budget
from stanchion.guards.queue import STARTS, Queue
from stanchion.kernel.actions import Action
from stanchion.kernel.stages import Stage
from stanchion.kernel.table import sensible
from stanchion.kernel.units import Unit

ENDS: Final = frozenset({Stage.TOOL_RESULT, Stage.MODEL_REPLY, Stage.ERROR, Stage.HANDOFF_DONE})
"""Where something ends: what it used is settled there, and nothing is counted anew but that it ended."""


def idle(guard: Any, stages: frozenset[Stage], alone: bool) -> Iterator[tuple[str, str]]:
    """Options of a guard that do nothing at these stages, each with why and what to do instead.

    `alone` says that the guard has its counters to itself: one that shares them may be there to look at what others
    have counted.
    """
    where = ", ".join(f"`{stage}`" for stage in sorted(stages))
    for stage in getattr(guard, "at", None) or ():
        if stages and stage not in stages:
            said = f"`at` says something of `{stage}`, where the guard does not stand"
            yield "at", f"{said}: add the stage to `stages`, or leave it out"
    if isinstance(guard, Queue) and stages and not stages & STARTS:
        said = f"nothing waits at {where}: nothing starts there"
        yield "stages", f"{said}; add a stage where something does, such as `tool_call`"
    if not isinstance(guard, Budget) or not stages:
        return
    for unit, limit in guard.limits().items():
        looks = [stage for stage in stages if not (stage is Stage.CHARGE and unit in ACTS)]
        counts = [stage for stage in looks if unit is Unit.ONE or stage not in ENDS]
        if not counts and not (looks and (limit == 0 or not alone)):
            why = "what ends there was counted where it began" if looks else "a charge is no action"
            said = f"`{MEASURES[unit]}` counts nothing at {where}: {why}"
            yield MEASURES[unit], f"{said}; add the stages where it is used, such as `tool_call`, or leave it out"
    if guard.degrade_at is not None and not any(sensible(stage, Action.DEGRADE) for stage in stages):
        said = f"`degrade_at` is never heard at {where}: there is no lesser request to make"
        yield "degrade_at", f"{said}; add a stage where there is, such as `model_call`, or leave it out"

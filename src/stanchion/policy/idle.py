"""Idle options: what a guard's entry says that nothing acts on at the stages where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stanchion.kernel.contract.powers import IDLE
from stanchion.kernel.stages import Stage


def idle(guard: Any, stages: frozenset[Stage], alone: bool) -> Iterator[tuple[str, str]]:
    """Options of a guard that do nothing at these stages, each with why and what to do instead.

    `alone` says that the guard has its counters to itself: one that shares them may be there to
    look at what others have counted.
    """
    for stage in getattr(guard, "at", None) or ():
        if stages and stage not in stages:
            said = f"`at` names the stage `{stage}`, at which this guard does not judge"
            yield "at", f"{said}: add the stage to `stages`, or leave it out"
    knowing = IDLE.of(guard)
    yield from knowing.idle(stages, alone) if knowing is not None else ()

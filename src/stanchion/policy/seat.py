"""Placing a guard: its seat, and what makes no sense about it where it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from stanchion.kernel.actions import Action
from stanchion.kernel.contract.powers import answers_at, having
from stanchion.kernel.guard import Kind, Placed
from stanchion.kernel.names import Names, names
from stanchion.kernel.stages import Stage
from stanchion.kernel.table import sensible
from stanchion.policy.compiled import CompiledPolicy, Seat
from stanchion.policy.schema import AppliesTo

Wrong = tuple[tuple[str, ...], str]
"""A path below a guard's entry, and what is wrong there."""

EVERYBODY = AppliesTo()


def seat_of(placed: Placed, place: str, who: AppliesTo = EVERYBODY) -> Seat:
    """The seat of a guard: whom a policy says it concerns, or else whom it concerns by itself."""
    concerned, needing = having(placed.guard, "concerns"), having(placed.guard, "needs")
    tools = who.tools
    if tools is None and concerned is not None:
        tools = concerned.concerns
    needs = {} if needing is None else dict(needing.needs)
    return Seat(
        placed,
        _names(who.agents),
        _names(who.tasks),
        _names(tools),
        needs,
        place,
        _names(who.risks),
    )


def call_of(guard: Any) -> Any:
    """What answers a guard: where it is imported from, or the code itself; `None` where nothing has
    to be asked."""
    if guard.kind is not Kind.ASKING or having(guard, "recalls") is not None:
        return None
    answered = having(guard, "call")
    return None if answered is None else answered.call


def own_code(policy: CompiledPolicy) -> dict[str, Callable[..., Any]]:
    """What answers guards that bring the code themselves, by their ids: that of the guards as they
    are now."""
    found = {seat.placed.id: call_of(seat.placed.guard) for seat in policy.seats}
    return {guard: call for guard, call in found.items() if callable(call)}


def misplaced(guard: Any, name: str, stages: frozenset[Stage]) -> Iterator[Wrong]:
    """What makes no sense about a guard at these stages."""
    only = having(guard, "answers_at")
    own = getattr(guard, "at", None)
    for stage in sorted(stages):
        if stage is Stage.MODEL_CHUNK and guard.kind is not Kind.PURE:
            message = f"`{name}` keeps state or asks, and `model_chunk` takes pure guards only"
            yield ("stages",), f"{message}: choose another stage"
        if stage not in guard.stages and guard.kind is Kind.PURE:
            known = ", ".join(sorted(guard.stages))
            yield ("stages",), f"`{name}` does not judge `{stage}`: choose among {known}"
        for action in answers_at(guard, stage) if only is None or stage in only.answers_at else ():
            if not sensible(stage, action):
                said = Action(action).name.lower()
                message = (
                    f"`{said}` makes no sense at `{stage}`: see the table of actions and stages"
                )
                yield (
                    ("at", stage.value) if own is not None and stage in own else ("action",),
                    message,
                )


def _names(patterns: tuple[str, ...] | None) -> Names | None:
    return None if patterns is None else names(patterns)

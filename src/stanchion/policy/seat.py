"""Placing a guard: its seat, the risk levels at which it is active, and what makes no sense about
it where it stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from stanchion.kernel.actions import RISK_NAMES, Action
from stanchion.kernel.contract.powers import answers_at, having
from stanchion.kernel.contract.values import Point, Standing
from stanchion.kernel.guard import Kind, Placed
from stanchion.kernel.names import Names, glob, is_glob, names
from stanchion.kernel.stages import Stage
from stanchion.kernel.table import sensible
from stanchion.policy.compiled import CompiledPolicy, GuardSeat
from stanchion.policy.schema import AppliesTo, PolicyFile
from stanchion.policy.sections import RiskEntry

Wrong = tuple[tuple[str, ...], str]
"""A path below a guard's entry, and what is wrong there."""

EVERYBODY = AppliesTo()


def seat_of(placed: Placed, place: str, who: AppliesTo = EVERYBODY) -> GuardSeat:
    """The seat of a guard: whom a policy says it concerns, or else whom it concerns by itself."""
    concerned, needing = having(placed.guard, "concerns"), having(placed.guard, "needs")
    tools = who.tools
    if tools is None and concerned is not None:
        tools = concerned.concerns
    needs = {} if needing is None else dict(needing.needs)
    return GuardSeat(
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


def own_points(seat: GuardSeat, policy: CompiledPolicy) -> Iterable[Point]:
    """What a guard says of its own entry when somebody looks the policy over."""
    knowing, placed = having(seat.placed.guard, "points"), seat.placed
    if knowing is None:
        return ()
    last = policy.warnings if policy.count_marks else 0
    return knowing.points(Standing(placed.id, placed.stages, placed.shadow, last))


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


NO_LEVEL: Final = "none"
"""What a policy calls the level of a run that has none."""


def at_levels(file: PolicyFile, seat: GuardSeat, always: bool) -> GuardSeat:
    """The seat of a guard with the levels at which it is active: where its entry and the level
    itself say so. What is always active is so at every level."""
    if always:
        return seat
    kept = [level for level in (NO_LEVEL, *RISK_NAMES) if seat.risks is None or level in seat.risks]
    kept = [
        level
        for level in kept
        if getattr(file.risk, level, None) is None or _named(entry_at(file, level), seat.placed)
    ]
    whole = len(kept) == len(RISK_NAMES) + 1
    return msgspec.structs.replace(seat, risks=None if whole else names(kept))


def leaves_out(policy: CompiledPolicy, risk: str) -> bool:
    """Whether a guard that judges runs without a level does not judge those at this one."""
    return any(
        seat.risks is not None and NO_LEVEL in seat.risks and risk not in seat.risks
        for seat in policy.seats
        if not seat.placed.shadow
    )


def entry_at(file: PolicyFile, level: str) -> RiskEntry:
    """What a policy says of a risk level."""
    said: RiskEntry | None = getattr(file.risk, level)
    return RiskEntry() if said is None else said


def _named(said: RiskEntry, placed: Placed) -> bool:
    return lists_guard(said, placed.whole) or lists_guard(said, placed.id)


def lists_guard(said: RiskEntry, name: str) -> bool:
    """Whether a guard of that id is active at a risk level."""
    return any(
        glob(pattern, name) if is_glob(pattern) else pattern == name for pattern in said.active
    )

"""Marks: shares of a limit, in percent, at which a guard speaks before the limit itself does."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.autonomy import TIGHTER

G = TypeVar("G", bound=msgspec.Struct)

Percent = Annotated[float, msgspec.Meta(gt=0, le=100)]
Reach = Annotated[Literal["allowed", "refused"], ("allowed", "refused")]
"""Whether what reaches a limit exactly still goes ahead."""

MARKS: Final = {
    "warn_at": Action.WARN,
    "degrade_at": Action.DEGRADE,
    "escalate_at": Action.ESCALATE,
}
"""The options that set marks, mildest first, and what reaching one leads to."""

FINE: Final = 1_000_000
"""Into how many parts a percent is divided: whole numbers from here on, so that no mark is off by
one."""


def marks_of(guard: Any) -> dict[Action, float]:
    """The marks that a guard has, mildest first."""
    return {MARKS[name]: at for name, at in _given(guard).items()}


def mark(limit: int, at: float) -> int:
    """The smallest whole number that is that share of a limit or more."""
    return -(-limit * max(round(at * FINE), 1) // (100 * FINE))


def mark_at(guard: Any, share: object) -> str:
    """The option of the mark at that share of the limit, as it is or as strict mode tightens it."""
    marks = _given(guard)
    return next(
        (name for by in (1, TIGHTER) for name, at in marks.items() if f"{at * by:g}" == share),
        "warn_at",
    )


def check_marks(guard: Any, action: Action, reach: Reach) -> None:
    """Refuse marks that would never be heard: behind a severer one, no milder than the limit, or at
    the limit."""
    before = ""
    for name, at in _given(guard).items():
        if MARKS[name] >= action:
            said = (
                f"`{name}: {at:g}` is no milder than `action: {action.name.lower()}` at the limit"
            )
            raise ValueError(f"{said}: leave the mark out, or choose a severer action")
        if before and at <= getattr(guard, before):
            said = f"`{before}: {getattr(guard, before):g}` is never heard behind `{name}: {at:g}`"
            raise ValueError(f"{said}: let the milder mark come first")
        if at == 100 and reach == "refused":
            raise ValueError(
                f"`{name}: 100` is never heard, the limit refuses there: give less, or leave it out"
            )
        before = name


def tightened(guard: G, by: float) -> G:
    """The same guard with marks that come earlier; its limit stays."""
    earlier = {name: at * by for name, at in _given(guard).items()}
    return msgspec.structs.replace(guard, **earlier) if earlier else guard


def _given(guard: Any) -> dict[str, float]:
    options = {name: getattr(guard, name, None) for name in MARKS}
    return {name: at for name, at in options.items() if at is not None}

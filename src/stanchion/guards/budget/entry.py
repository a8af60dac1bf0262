"""What a budget says of its own entry: options that do nothing, marks that everybody reaches,
measures unbounded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

from stanchion.guards._marks import mark, marks_of
from stanchion.guards.budget.measures import ACTS, MEASURES, phrase
from stanchion.kernel.actions import Action
from stanchion.kernel.contract.values import Point, Standing
from stanchion.kernel.scopes import ENDING
from stanchion.kernel.stages import UNTALLIED, Stage
from stanchion.kernel.table import sensible
from stanchion.kernel.units import Unit

ENDS: Final = frozenset({Stage.TOOL_RESULT, Stage.MODEL_REPLY, Stage.ERROR, Stage.HANDOFF_DONE})
"""Where something ends: what it used is settled there, and nothing is counted anew but that it
ended."""

STARTS: Final = frozenset({Stage.TOOL_CALL, Stage.MODEL_CALL, Stage.HANDOFF})
"""Where something begins of which nobody may have said what it takes."""


class Budget(Protocol):
    """A budget, as far as its entry in a policy can be judged."""

    @property
    def degrade_at(self) -> float | None: ...

    @property
    def warn_at(self) -> float | None: ...

    @property
    def action(self) -> str: ...

    @property
    def per(self) -> str: ...

    @property
    def window_s(self) -> float | None: ...

    @property
    def is_windowed(self) -> bool: ...

    @property
    def turns(self) -> str | None: ...

    @property
    def reach(self) -> str: ...

    @property
    def of_task(self) -> str | None: ...

    def limits(self) -> dict[Unit, int]: ...

    def reserves(self) -> dict[Unit, int]: ...


def check_of_task(budget: Budget) -> None:
    """Refuse a budget that has limits of its own beside those of tasks, or is not counted by
    tasks."""
    if budget.limits():
        own = MEASURES[next(iter(budget.limits()))]
        raise ValueError(
            f"`of_task` takes the limit from the task, and `{own}` gives another: leave one of "
            f"them out"
        )
    if budget.per != "task" or budget.is_windowed:
        raise ValueError(
            "`of_task` bounds what a task uses in all: write `per: task`, and no window"
        )


def idle(budget: Budget, stages: frozenset[Stage], alone: bool) -> Iterator[tuple[str, str]]:
    """Measures that count nothing at these stages, and a degrade mark that is never heard there."""
    where = ", ".join(f"`{stage}`" for stage in sorted(stages))
    for unit, limit in budget.limits().items() if stages else ():
        looks = [stage for stage in stages if not (stage is Stage.CHARGE and unit in ACTS)]
        counts = [stage for stage in looks if unit is Unit.ONE or stage not in ENDS]
        if not counts and not (looks and (limit == 0 or not alone)):
            why = (
                "what ends there was counted where it began"
                if looks
                else "a charge is not an action"
            )
            said = f"`{MEASURES[unit]}` counts nothing at {where}: {why}"
            yield (
                MEASURES[unit],
                f"{said}; add the stages where it is used, such as `tool_call`, or leave it out",
            )
    if (
        stages
        and budget.degrade_at is not None
        and not any(sensible(stage, Action.DEGRADE) for stage in stages)
    ):
        said = f"`degrade_at` is never heard at {where}: there is no lesser request to make"
        yield (
            "degrade_at",
            f"{said}; add a stage where there is, such as `model_call`, or leave it out",
        )


def points(budget: Budget, standing: Standing) -> Iterator[Point]:
    """Marks that everybody reaches, and measures of which an action reserves nothing where nobody
    estimates it."""
    if (
        standing.last
        and not standing.shadow
        and standing.stages - UNTALLIED
        and budget.warn_at is not None
    ):
        yield from _marks(budget, standing)
    if standing.shadow or budget.action == "warn" or budget.turns is not None:
        return
    for unit in (
        (Unit.TOKENS, Unit.COST_MICROUSD, Unit.DURATION_MS) if standing.stages & STARTS else ()
    ):
        if budget.limits().get(unit) and unit not in budget.reserves():
            name = MEASURES[unit]
            said = (
                f"`{standing.id}` has no bound for the `{name}` of an action that nobody estimates"
            )
            said += ": many at once can use more than there is"
            known = "a time limit" if unit is Unit.DURATION_MS else "an estimate or `max_tokens`"
            advice = f"give `reserve_{name}`, `turns`, or {known} with every call"
            yield Point("unbounded", "info", said, advice, (name,))


def _marks(budget: Budget, standing: Standing) -> Iterator[Point]:
    """A mark that the first unit reaches; and one of calls, of which everybody makes as many as are
    left above it."""
    last = standing.last
    waits = f"warning {last} of a task waits for a person"
    together = budget.per in ENDING and not budget.is_windowed
    for unit, limit in budget.limits().items():
        first, *severer = [mark(limit, at) for at in marks_of(budget).values()]
        end = min([*severer, limit + (budget.reach == "allowed")])
        if end - first < last:
            continue
        option = f"`warn_at: {budget.warn_at:g}` of `{MEASURES[unit]}`"
        if first <= 1:
            said = (
                f"`{standing.id}` warns from the first on: {phrase(unit, first)} is all that "
                f"{option} takes"
            )
            advice = "give a larger `warn_at`, or leave it out"
            yield Point("always_warns", "certain", f"{said}, and {waits}", advice, ("warn_at",))
        elif unit is Unit.ONE and together:
            said = (
                f"call {first + last - 1} already waits for a person: each call from {first} on "
                f"warns by {option},"
            )
            least = 100 * (end - last) // limit + 1
            raised = "raise `limits.warnings`"
            advice = f"let `warn_at` be {least} or more, or {raised}" if last > 1 else raised
            yield Point("always_warns", "certain", f"{said} and {waits}", advice, ("warn_at",))

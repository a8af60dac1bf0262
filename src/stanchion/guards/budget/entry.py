"""Entries of a budget: what is measured, where limits stand, and how they are told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, ClassVar, Final, Literal

from msgspec import Meta, Struct

from stanchion.guards._marks import Percent, Reach, mark, marks_of
from stanchion.kernel.actions import Action
from stanchion.kernel.calendar import Window
from stanchion.kernel.contract.values import Point, Standing
from stanchion.kernel.counter_scopes import ENDING
from stanchion.kernel.option import Higher, Lower, On, Severer
from stanchion.kernel.stages import UNTALLIED, Stage
from stanchion.kernel.table import sensible
from stanchion.kernel.units import MICRO, Unit, ceil_micro

ACTS: Final = (Unit.ONE, Unit.DURATION_MS)
"""What only an action uses up; a charge is none."""

MEASURES: Final = {
    Unit.ONE: "calls",
    Unit.TOKENS: "tokens",
    Unit.COST_MICROUSD: "cost_usd",
    Unit.API_CALLS: "api_calls",
    Unit.DURATION_MS: "duration_s",
}
"""The options that bound, by what they count."""

UNITS: Final = {name: unit for unit, name in MEASURES.items()}
"""What each of them counts."""

WORDS: Final = {
    Unit.ONE: ("call", "calls"),
    Unit.TOKENS: ("token", "tokens"),
    Unit.API_CALLS: ("API call", "API calls"),
    Unit.DURATION_MS: ("second of work", "seconds of work"),
}


def phrase(unit: Unit, number: int) -> str:
    """A number of a unit in words that people read."""
    if unit is Unit.COST_MICROUSD:
        return shown(unit, number)
    one, many = WORDS[unit]
    said = shown(unit, number)
    return f"{said} {one if said == '1' else many}"


def shown(unit: Unit, number: int) -> str:
    """The number alone, exactly: dollars with their cents at least, seconds with the parts they
    have."""
    if unit is Unit.COST_MICROUSD:
        dollars, parts = divmod(number, MICRO)
        return f"${dollars:,}." + f"{parts:06d}".rstrip("0").ljust(2, "0")
    if unit is Unit.DURATION_MS:
        seconds, parts = divmod(number, 1_000)
        return f"{seconds:,}.{parts:03d}".rstrip("0").rstrip(".")
    return f"{number:,}"


ENDS: Final = frozenset({Stage.TOOL_RESULT, Stage.MODEL_REPLY, Stage.ERROR, Stage.HANDOFF_DONE})
"""Where something ends: what it used is settled there, and nothing is counted anew but that it
ended."""

STARTS: Final = frozenset({Stage.TOOL_CALL, Stage.MODEL_CALL, Stage.HANDOFF})
"""Where something begins of which nobody may have said what it takes."""


Whole = Annotated[int, Meta(ge=0, lt=10**15)]
Amount = Annotated[float, Meta(ge=0, lt=10**9)]
AtLimit = Literal["warn", "retry", "queue", "escalate", "block", "quarantine", "halt"]
"""An action that a limit can lead to: a counter cannot say `allow`, which would find nothing."""

OfTask = Literal["tokens", "cost_usd", "api_calls"]
"""A measure of which a policy gives tasks budgets."""

Turns = Literal["wait", "refuse"]
"""What becomes of an action that is not next, where actions take turns."""

_WINDOW: Final = "{limit} per {per} in any {window_s:span}"
_WHOLE: Final = "{window_s:unless}{limit} per {per}"
_FITS: Final = ", used and reserved together (`{option}`)"
_LESS: Final = " (`{mark}` of `{option}`)"
_TASK: Final = "a larger budget of the task (`tasks.<name>.budget.{measure}`)"

REMEDIES: Final = {
    "budget.nearly": (
        _TASK,
        "less than {0} % of " + _WINDOW + _LESS,
        "less than {0} % of " + _WHOLE + _LESS,
        "{option:if}{lockdown}",
    ),
    "": (
        _TASK,
        "no more than " + _WINDOW + _FITS,
        "no more than " + _WHOLE + _FITS,
        "{option:if}{window_s:if}the same call later, when earlier spending has left the window",
        "{option:if}another {apart}: its spending is counted apart",
    ),
}


class Bounds(Struct, frozen=True, dict=True):
    """The options of a budget: what it bounds, for whom, and what is reserved."""

    remedies: ClassVar = REMEDIES

    tokens: Lower[Whole | None] = None
    """The limit in tokens; if absent, tokens are not limited."""
    cost_usd: Lower[Amount | None] = None
    """The limit in US dollars; if absent, cost is not limited."""
    calls: Lower[Whole | None] = None
    """The limit on tool calls, model calls and handoffs together; if absent, they are not limited.
    """
    api_calls: Lower[Whole | None] = None
    """The limit on calls to external APIs: model calls, calls of `open_world` tools, requests
    through the run's transports; if absent, they are not limited."""
    duration_s: Lower[Amount | None] = None
    """The limit in seconds of work, adding up all actions, parallel ones too; if absent, work time
    is not limited."""
    per: Annotated[str, Meta(pattern="^[A-Za-z_][A-Za-z0-9_]*$", max_length=64)] = "run"
    """Whose spending is counted together: that of a `run`, a `task`, an `agent`, a `tenant`, the
    whole `fleet`, or of a name that the host gives its runs as a label, such as `customer`."""
    window_s: Annotated[float, Meta(ge=1, lt=10**9)] | None = None
    """Counts only what was spent in the last this many seconds; if absent, everything counts."""
    warn_at: Lower[Percent | None] = None
    """Warns from this percentage of a limit on, estimates included; if absent, it does not warn."""
    degrade_at: Percent | None = None
    """Asks for a lesser request from this percentage of a limit on, if the policy defines one; if
    absent, never."""
    escalate_at: Lower[Percent | None] = None
    """Asks a person from this percentage of a limit on; if absent, never."""
    action: Severer[AtLimit] = "block"
    """The action for what exceeds a limit; it must be more severe than all marks before the limit.
    """
    reach: Reach = "allowed"
    """Whether an action that reaches the limit exactly is allowed or refused."""
    counter: str | None = None
    """Budgets with the same counter, `per` and window count together; if absent, each entry counts
    separately."""
    reserve_tokens: Higher[Whole | None] = None
    """The tokens reserved for an action without an estimate or another bound; if absent, none."""
    reserve_cost_usd: Higher[Amount | None] = None
    """The dollars reserved for an action without an estimate or another bound; if absent, none."""
    reserve_duration_s: Higher[Amount | None] = None
    """The seconds reserved for an action without an estimate or a time limit; if absent, none."""
    of_task: OfTask | None = None
    """The measure whose limit is that of the run's task, `tasks.<name>.budget`; if absent, the
    limits are those given here."""
    turns: Turns | None = None
    """Lets one action at a time begin on the budget, until its outcome is known: others `wait` for
    it, or are refused (`refuse`); if absent, actions run side by side."""
    window: Window | None = None
    """Counts what was spent in the present hour, day or month of the policy's `timezone`; if
    absent, everything counts."""

    halts: On[bool] = False
    """Whether a full window is a used-up budget: who has filled it and is in the state of warning
    is halted until an operator resumes it. Without a window that is always so."""

    def limits(self) -> dict[Unit, int]:
        """What it bounds, in whole units; parts of a unit are not there to be spent."""
        said = {
            Unit.ONE: self.calls,
            Unit.TOKENS: self.tokens,
            Unit.COST_MICROUSD: None
            if self.cost_usd is None
            else int(round(self.cost_usd * MICRO, 3)),
            Unit.API_CALLS: self.api_calls,
            Unit.DURATION_MS: None
            if self.duration_s is None
            else int(round(self.duration_s * 1_000, 3)),
        }
        return {unit: limit for unit, limit in said.items() if limit is not None}

    def reserves(self) -> dict[Unit, int]:
        """What an action reserves that nobody has estimated and nothing else bounds; parts of a
        unit are whole ones."""
        said = {
            Unit.TOKENS: self.reserve_tokens,
            Unit.COST_MICROUSD: None
            if self.reserve_cost_usd is None
            else ceil_micro(self.reserve_cost_usd),
            Unit.DURATION_MS: None
            if self.reserve_duration_s is None
            else -int(-self.reserve_duration_s * 1_000 // 1),
        }
        return {unit: reserved for unit, reserved in said.items() if reserved is not None}

    @property
    def is_windowed(self) -> bool:
        """Whether what was used is free again some day."""
        return self.window_s is not None or self.window is not None


def check_window(budget: Bounds) -> None:
    """Refuse two windows, and what is about a window where there is none."""
    if budget.window is not None and budget.window_s is not None:
        raise ValueError("`window` and `window_s` are two windows: leave one of them out")
    if budget.halts and not budget.is_windowed:
        raise ValueError(
            "`halts` is about a window, and there is none: give `window_s`, or leave it out"
        )


def check_of_task(budget: Bounds) -> None:
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


def idle(budget: Bounds, stages: frozenset[Stage], alone: bool) -> Iterator[tuple[str, str]]:
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


def points(budget: Bounds, standing: Standing) -> Iterator[Point]:
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


def _marks(budget: Bounds, standing: Standing) -> Iterator[Point]:
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

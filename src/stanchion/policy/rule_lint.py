"""Linting one guard: rules that never apply, and warnings that everybody gets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal, NamedTuple

import msgspec

from stanchion.guards._marks import mark, marks_of
from stanchion.guards.budget import MEASURES, Budget, phrase
from stanchion.guards.step_limit import StepLimit
from stanchion.guards.time_limit import TimeLimit
from stanchion.guards.tool_denylist import ToolDenylist
from stanchion.kernel.actions import Action
from stanchion.kernel.events import OF_STAGE, RunInfo
from stanchion.kernel.stages import UNTALLIED, Stage
from stanchion.kernel.units import Unit
from stanchion.policy.compiled import Seat
from stanchion.policy.conditions.view import STANDARD, View
from stanchion.policy.reach import LISTS, TOOL, conjuncts
from stanchion.policy.rules import Rule
from stanchion.policy.spelling import Known

Sure = Literal["certain", "likely", "info"]

CALLED: Final = frozenset({Stage.TOOL_CALL, Stage.TOOL_RESULT, Stage.ERROR})
"""Stages whose `action.type` depends on the tool and its arguments."""

OF_CALLS: Final = frozenset({"action.command", "action.target_file", "action.target_files"})
"""Names that are worked out from a call's arguments."""


class Point(NamedTuple):
    """Something about a guard's entry; `path` leads from the entry to it."""

    code: str
    sure: Sure
    message: str
    advice: str
    path: tuple[str, ...] = ()


def about_rule(seat: Seat, rule: Rule, roles: Known) -> Iterator[Point]:
    """Why a rule never applies, or part of it never holds; `roles` are those that agents have."""
    never = f"`{seat.placed.id}` never applies"
    stages = sorted(seat.placed.stages)
    shown = ", ".join(f"`{stage}`" for stage in stages)
    needs = rule.needs
    yield from _contradictions(seat, rule, never)
    yield from _left_out(seat, needs, never)
    at_stage = needs.get("event.stage")
    if at_stage and not at_stage & {stage.value for stage in stages}:
        wanted = ", ".join(sorted(map(str, at_stage)))
        said = f"{never}: it judges {shown} and needs the stage {wanted}"
        yield Point("unreachable", "certain", said, f"write `stages: [{wanted}]`", ("when",))
    types = needs.get("action.type")
    if types and not types & frozenset().union(*(_types(stage) for stage in stages)):
        wanted = ", ".join(sorted(map(str, types)))
        said = f"{never}: no `action.type` at {shown} is {wanted}"
        yield Point("unreachable", "certain", said, "name the stages where it is, as `stages`", ("when",))
    yield from _never_set(seat, rule, shown)
    wanted_roles = [str(role) for role in sorted(needs.get("agent.role", ()), key=str)]
    if wanted_roles and roles.names and not any(role in roles.names or role == "" for role in wanted_roles):
        near = next((near for role in wanted_roles if (near := roles.meant(role))), None)
        advice = f"did you mean `{near}`?" if near else "give it to an agent, unless runs name their own role"
        said = f"{never}: no agent has the role {', '.join(f'`{role}`' for role in wanted_roles)}"
        yield Point("unreachable", "likely", said, advice, ("when",))


def _contradictions(seat: Seat, rule: Rule, never: str) -> Iterator[Point]:
    two = "would have to be two different things at once"
    for name, values in rule.needs.items():
        if not values:
            advice = "join the values with `or`, or by `in`"
            yield Point("contradiction", "certain", f"{never}: `{name}` {two}", advice, ("when",))
    check = rule.check_condition
    for name, values in check.needs.items() if check is not None else ():
        if not values:
            said = f"the check of `{seat.placed.id}` never holds: `{name}` {two}"
            yield Point("contradiction", "certain", said, "join the values with `or`, or leave it out", ("check",))


def _left_out(seat: Seat, needs: dict[str, frozenset[Any]], never: str) -> Iterator[Point]:
    for kind, name in LISTS.items():
        listed = getattr(seat, kind)
        asked = needs.get(name, needs.get("event.tool") if name == TOOL else None)
        if listed is not None and asked and not any(value in listed for value in asked if isinstance(value, str)):
            wanted = ", ".join(f"`{value}`" for value in sorted(map(str, asked)))
            said = f"{never}: `when` needs {wanted}, which `applies_to.{kind}` leaves out"
            yield Point("contradiction", "certain", said, "let both name the same", ("applies_to", kind))


def _never_set(seat: Seat, rule: Rule, shown: str) -> Iterator[Point]:
    for option, condition in (("when", rule.when_condition), ("check", rule.check_condition)):
        for name in sorted(condition.reads if condition is not None else ()):
            group, _, rest = name.partition(".")
            field = "args" if name in OF_CALLS else rest.partition(".")[0] if group == "event" else ""
            having = [stage for stage in Stage if hasattr(OF_STAGE[stage], field)] if field else list(Stage)
            if not seat.placed.stages & set(having):
                said = f"`{name}` is always null here: no event at {shown} has it"
                advice = f"name stages that do, as in `stages: [{', '.join(having)}]`"
                yield Point("unreachable", "certain", said, advice, (option,))


def about_warnings(seat: Seat, last: int) -> Iterator[Point]:
    """Warnings that every call gets: nobody thinks of number `last` of them, which asks for a person."""
    guard = seat.placed.guard
    if isinstance(guard, StepLimit) and guard.warn_after is not None:
        if guard.action != "warn" and guard.max_steps - guard.warn_after >= last:
            said = f"step {guard.warn_after + last} already waits for a person: each step after"
            said += f" `warn_after: {guard.warn_after}` warns, and warning {last} of a guard in a task escalates"
            advice = f"let `warn_after` be {max(guard.max_steps - last + 1, 0)} or more, or raise `limits.warnings`"
            yield Point("always_warns", "certain", said, advice, ("warn_after",))
        return
    heard = not seat.placed.shadow and seat.placed.stages - UNTALLIED
    if heard and isinstance(guard, Budget) and guard.warn_at is not None:
        yield from _budget_marks(seat.placed.id, guard, last)
    elif heard and isinstance(guard, TimeLimit) and guard.warn_at is not None:
        yield from _time_marks(seat.placed.id, guard, last)
    elif heard and Action.WARN in guard.actions() and _speaks_always(seat):
        said = f"`{seat.placed.id}` warns about every call, and warning {last} of a task waits for a person"
        advice = "let it concern less, or write `action: allow`, which only records"
        yield Point("always_warns", "certain", said, advice, ("action",))


STARTS: Final = frozenset({Stage.TOOL_CALL, Stage.MODEL_CALL, Stage.HANDOFF})
"""Where something begins of which nobody may have said what it takes."""


def about_bounds(seat: Seat) -> Iterator[Point]:
    """Measures of a budget of which an action reserves nothing, or too little, where nobody estimates it."""
    guard = seat.placed.guard
    if not isinstance(guard, Budget) or seat.placed.shadow or guard.action == "warn":
        return
    for unit in (Unit.TOKENS, Unit.COST_MICROUSD, Unit.DURATION_MS) if seat.placed.stages & STARTS else ():
        if guard.limits().get(unit) and unit not in guard.reserves():
            name = MEASURES[unit]
            said = f"`{seat.placed.id}` has no bound for the `{name}` of an action that nobody estimates"
            said += ": many at once can use more than there is"
            known = "a time limit" if unit is Unit.DURATION_MS else "an estimate or `max_tokens`"
            advice = f"give `reserve_{name}`, or {known} with every call"
            yield Point("unbounded", "info", said, advice, (name,))


def _budget_marks(name: str, guard: Budget, last: int) -> Iterator[Point]:
    """A mark that the first unit reaches; and one of calls, of which everybody makes as many as are left above it."""
    waits = f"warning {last} of a task waits for a person"
    together = guard.per in ("run", "task") and guard.window_s is None
    for unit, limit in guard.limits().items():
        first, *severer = [mark(limit, at) for at in marks_of(guard).values()]
        end = min([*severer, limit + (guard.reach == "allowed")])
        if end - first < last:
            continue
        option = f"`warn_at: {guard.warn_at:g}` of `{MEASURES[unit]}`"
        if first <= 1:
            said = f"`{name}` warns from the first on: {phrase(unit, first)} is all that {option} takes, and {waits}"
            yield Point("always_warns", "certain", said, "give a larger `warn_at`, or leave it out", ("warn_at",))
        elif unit is Unit.ONE and together:
            said = f"call {first + last - 1} already waits for a person: each call from {first} on warns by {option},"
            least = 100 * (end - last) // limit + 1
            raised = "raise `limits.warnings`"
            advice = f"let `warn_at` be {least} or more, or {raised}" if last > 1 else raised
            yield Point("always_warns", "certain", f"{said} and {waits}", advice, ("warn_at",))


def _time_marks(name: str, guard: TimeLimit, last: int) -> Iterator[Point]:
    """A mark that has been reached when the time begins, or a millisecond later."""
    turns = {action: at for at, action in guard.turns}
    first = turns.pop(Action.WARN)
    if first <= 1 < min(turns.values()):
        said = f"`{name}` warns from the first on: `warn_at: {guard.warn_at:g}` is reached"
        why = "with `estimate_s` alone" if guard.estimate_s else "within a millisecond"
        advice = "give a larger `warn_at`" + (" or a smaller `estimate_s`" if guard.estimate_s else "")
        waits = f"warning {last} of a task waits for a person"
        yield Point("always_warns", "certain", f"{said} {why}, and {waits}", f"{advice}, or leave it out", ("warn_at",))


def _speaks_always(seat: Seat) -> bool:
    guard = seat.placed.guard
    if seat.agents is not None or seat.tasks is not None or seat.tools is not None:
        return False
    if isinstance(guard, Rule) and guard.check is None:
        parts = conjuncts(guard.when)
        staged = guard.needs.get("event.stage", frozenset()) >= {stage.value for stage in seat.placed.stages}
        return not parts or (staged and len(parts) == 1)
    if isinstance(guard, Budget):
        return 0 in guard.limits().values()
    return isinstance(guard, ToolDenylist) and "*" in guard.tools


def _types(stage: Stage) -> frozenset[str]:
    """What `action.type` can be at a stage."""
    if stage not in CALLED:
        return frozenset({_only_type(stage)})
    fixed = {_only_type(other) for other in Stage if other not in CALLED} - {"http"}
    return frozenset(STANDARD.words["action.type"].choices) - fixed


def _only_type(stage: Stage) -> str:
    kind: Any = OF_STAGE[stage]
    words = {field.name: "" for field in msgspec.structs.fields(kind) if field.required and field.type is str}
    return View(kind(**{**words, "id": "", "at": 0, "run": RunInfo("")})).action_type

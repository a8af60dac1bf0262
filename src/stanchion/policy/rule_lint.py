"""Linting one guard: rules that never apply, and warnings that everybody gets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.contract.powers import having
from stanchion.kernel.contract.values import Point, Standing
from stanchion.kernel.events import OF_STAGE, RunInfo
from stanchion.kernel.stages import UNTALLIED, Stage
from stanchion.policy.compiled import Seat
from stanchion.policy.conditions.view import STANDARD, View
from stanchion.policy.reach import LISTS, TOOL, conjuncts
from stanchion.policy.rules import Rule
from stanchion.policy.spelling import Known

CALLED: Final = frozenset({Stage.TOOL_CALL, Stage.TOOL_RESULT, Stage.ERROR})
"""Stages whose `action.type` depends on the tool and its arguments."""

OF_CALLS: Final = frozenset({"action.command", "action.target_file", "action.target_files"})
"""Names that are worked out from a call's arguments."""


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
        yield Point(
            "unreachable", "certain", said, "name the stages where it is, as `stages`", ("when",)
        )
    yield from _never_set(seat, rule, shown)
    wanted_roles = [str(role) for role in sorted(needs.get("agent.role", ()), key=str)]
    if (
        wanted_roles
        and roles.names
        and not any(role in roles.names or role == "" for role in wanted_roles)
    ):
        near = next((near for role in wanted_roles if (near := roles.meant(role))), None)
        advice = (
            f"did you mean `{near}`?"
            if near
            else "give it to an agent, unless runs name their own role"
        )
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
            said = f"the check of `{seat.placed.id}` is never true: `{name}` {two}"
            yield Point(
                "contradiction",
                "certain",
                said,
                "join the values with `or`, or leave it out",
                ("check",),
            )


def _left_out(seat: Seat, needs: dict[str, frozenset[Any]], never: str) -> Iterator[Point]:
    for kind, name in LISTS.items():
        listed = getattr(seat, kind)
        asked = needs.get(name, needs.get("event.tool") if name == TOOL else None)
        if (
            listed is not None
            and asked
            and not any(value in listed for value in asked if isinstance(value, str))
        ):
            wanted = ", ".join(f"`{value}`" for value in sorted(map(str, asked)))
            said = f"{never}: `when` needs {wanted}, which `applies_to.{kind}` leaves out"
            yield Point(
                "contradiction", "certain", said, "make both name the same", ("applies_to", kind)
            )


def _never_set(seat: Seat, rule: Rule, shown: str) -> Iterator[Point]:
    for option, condition in (("when", rule.when_condition), ("check", rule.check_condition)):
        for name in sorted(condition.reads if condition is not None else ()):
            group, _, rest = name.partition(".")
            field = (
                "args" if name in OF_CALLS else rest.partition(".")[0] if group == "event" else ""
            )
            having = (
                [stage for stage in Stage if hasattr(OF_STAGE[stage], field)]
                if field
                else list(Stage)
            )
            if not seat.placed.stages & set(having):
                said = f"`{name}` is always null here: no event at {shown} has it"
                advice = f"name stages that do, as in `stages: [{', '.join(having)}]`"
                yield Point("unreachable", "certain", said, advice, (option,))


def about_guard(seat: Seat, last: int, count_marks: bool) -> Iterator[Point]:
    """What a guard says of its own entry; and warnings that every call gets: nobody thinks of
    number `last` of them, which asks for a person."""
    guard, placed = seat.placed.guard, seat.placed
    answering = having(guard, "actions")
    heard = not placed.shadow and placed.stages - UNTALLIED
    if (
        heard
        and answering is not None
        and Action.WARN in answering.actions()
        and _speaks_always(seat)
    ):
        said = (
            f"`{placed.id}` warns about every call, and warning {last} of a task waits for a person"
        )
        advice = "apply it to less, or write `action: allow`, which only records"
        yield Point("always_warns", "certain", said, advice, ("action",))
    knowing = having(guard, "points")
    if knowing is not None:
        yield from knowing.points(
            Standing(placed.id, placed.stages, placed.shadow, last if count_marks else 0)
        )


def _speaks_always(seat: Seat) -> bool:
    guard = seat.placed.guard
    if seat.agents is not None or seat.tasks is not None or seat.tools is not None:
        return False
    if isinstance(guard, Rule) and guard.check is None:
        parts = conjuncts(guard.when)
        staged = guard.needs.get("event.stage", frozenset()) >= {
            stage.value for stage in seat.placed.stages
        }
        return not parts or (staged and len(parts) == 1)
    knowing = having(guard, "always_speaks")
    return knowing is not None and knowing.always_speaks()


def _types(stage: Stage) -> frozenset[str]:
    """What `action.type` can be at a stage."""
    if stage not in CALLED:
        return frozenset({_only_type(stage)})
    fixed = {_only_type(other) for other in Stage if other not in CALLED} - {"http"}
    return frozenset(STANDARD.words["action.type"].choices) - fixed


def _only_type(stage: Stage) -> str:
    kind: Any = OF_STAGE[stage]
    words = {
        field.name: ""
        for field in msgspec.structs.fields(kind)
        if field.required and field.type is str
    }
    return View(kind(**{**words, "id": "", "at": 0, "run": RunInfo("")})).action_type

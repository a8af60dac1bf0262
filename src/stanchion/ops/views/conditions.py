"""A condition part by part: what each part came to on one event, and the values it read."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.kernel.names import Names
from stanchion.policy.conditions import (
    ConditionError,
    EvaluationError,
    compile_condition,
    compile_expression,
)
from stanchion.policy.conditions.parser import parse
from stanchion.policy.conditions.syntax import Logic, Node
from stanchion.policy.conditions.view import STANDARD, EventView

DEEPEST: Final = 4
"""How many levels of `and` and `or` are taken apart."""


class Part(msgspec.Struct, frozen=True):
    """A part of a condition: its text, whether it holds (`None` where it cannot be said), the
    values of the names it reads, its own parts where it is joined of several by `and` or `or`, and
    why it cannot be said whether it holds."""

    text: str
    holds: bool | None
    values: dict[str, Any] = {}
    joined: str = ""
    parts: tuple[Part, ...] = ()
    error: str = ""

    def leaves(self, joined: str) -> tuple[Part, ...]:
        """The parts that are joined by that word, or the part itself."""
        return self.parts if self.joined == joined else (self,)


def parts_of(source: str, view: EventView) -> Part:
    """A condition tested on an event, part by part."""
    return _part(source, parse(source), view, 0)


def _part(source: str, node: Node, view: EventView, depth: int) -> Part:
    text = source[node.start : node.end].strip()
    parts: tuple[Part, ...] = ()
    joined = ""
    if isinstance(node, Logic) and depth < DEEPEST:
        joined = "and" if node.op == "&&" else "or"
        parts = tuple(_part(source, part, view, depth + 1) for part in node.parts)
    holds, error = _tested(text, view)
    return Part(text, holds, {} if parts else _values(text, view), joined, parts, error)


def _tested(text: str, view: EventView) -> tuple[bool | None, str]:
    """Whether a part holds; where that cannot be said, why."""
    try:
        return compile_condition(text, STANDARD).test(view), ""
    except (ConditionError, EvaluationError) as error:
        return None, str(error)


def _values(text: str, view: EventView) -> dict[str, Any]:
    """What the names in a part stand for."""
    found: dict[str, Any] = {}
    try:
        names = sorted(compile_condition(text, STANDARD).reads)
    except ConditionError:
        return found
    for name in names:
        try:
            value = compile_expression(name, STANDARD).evaluate(view)
        except (ConditionError, EvaluationError):
            continue
        found[name] = sorted({*value.exact, *value.globs}) if isinstance(value, Names) else value
    return found

"""Holding conditions against the tools that are known: arguments that none of them has, and types
that cannot meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from stanchion.kernel.contract.values import Point
from stanchion.kernel.names import is_glob, names
from stanchion.policy.asking import AskPerson
from stanchion.policy.compiled import Seat
from stanchion.policy.conditions import ConditionError, compile_expression
from stanchion.policy.conditions.kinds import (
    BOOL,
    DOUBLE,
    DYN,
    INT,
    STRING,
    Type,
    join,
    list_of,
    map_of,
)
from stanchion.policy.conditions.parser import parse
from stanchion.policy.conditions.typed import Checker
from stanchion.policy.conditions.view import ARGUMENTS, STANDARD
from stanchion.policy.conditions.vocabulary import Vocabulary
from stanchion.policy.nearest import nearest
from stanchion.policy.rules import Rule
from stanchion.policy.schema import PolicyFile
from stanchion.policy.sequences import Sequence

Schemas = Mapping[str, Any]
"""The JSON Schema of the arguments of each tool that is known."""

NONE_KNOWN: Final[Schemas] = MappingProxyType({})
SHOWN: Final = 5
_PREFIX: Final = f"{ARGUMENTS}."
_OPEN: Final = ("$ref", "allOf", "anyOf", "oneOf", "patternProperties")
_TYPES: Final = {
    "string": STRING,
    "integer": INT,
    "boolean": BOOL,
    "array": list_of(DYN),
    "object": map_of(DYN),
}


class _Condition(NamedTuple):
    """A condition of a guard, the path from its entry to it, and the tools it is about."""

    path: tuple[str, ...]
    source: str
    tools: tuple[Any, ...]

    def concerns(self, tool: str) -> bool:
        """Whether it can be about that tool."""
        return all(listed is None or tool in listed for listed in self.tools)


def about_arguments(seat: Seat, schemas: Schemas) -> Iterator[Point]:
    """Where a guard's conditions do not fit any of the known tools that they are about."""
    for condition in _conditions(seat) if schemas else ():
        tools = [tool for tool in schemas if condition.concerns(tool)]
        known = {tool: _properties(schemas[tool]) for tool in tools}
        taken = {tool: own for tool, own in known.items() if own is not None}
        if not tools or len(taken) < len(tools):
            continue  # nothing is known of them, or one takes whatever it is given
        lacking = list(_lacking(condition.source, taken))
        for name in lacking:
            every = sorted({each for own in taken.values() for each in own})
            near = nearest(name, tuple(every))
            advice = "name one that is there" if near is None else f"did you mean `{near}`"
            said = f"`{seat.placed.id}` reads `{_PREFIX}{name}`, which {_has_not(taken)}"
            yield Point("arguments", "likely", said, advice, condition.path)
        unfit = "" if lacking else _unfit(condition.source, taken)
        if unfit:
            said = f"`{seat.placed.id}` does not fit the arguments of {_named(taken)}"
            yield Point("arguments", "likely", said, unfit, condition.path)


def written_schemas(file: PolicyFile) -> Schemas:
    """The schemas that a policy has of tools it names."""
    return {
        name: tool.schema
        for name, tool in file.tools.items()
        if tool.schema is not None and not is_glob(name)
    }


def _conditions(seat: Seat) -> Iterator[_Condition]:
    guard = seat.placed.guard
    match guard:
        case Rule():
            tools = (seat.tools, *(seat.needs.get(n) for n in ("event.tool", "action.tool_name")))
            for option in ("when", "check"):
                if getattr(guard, option) is not None:
                    yield _Condition((option,), getattr(guard, option), tools)
        case Sequence():
            for option, step in guard.steps.items():
                yield _Condition((option, "when"), step.when, (seat.tools, names(step.tools)))
        case AskPerson() if guard.asks.above is not None:
            yield _Condition(("of",), f"({guard.asks.of}) > {guard.asks.above}", (seat.tools,))


def _properties(schema: Any) -> dict[str, Any] | None:
    """The arguments that a tool takes by its schema; nothing where it takes any others as well."""
    if not isinstance(schema, dict) or any(word in schema for word in _OPEN):
        return None
    own = schema.get("properties", {})
    closed = "properties" in schema or schema.get("additionalProperties") is False
    if not isinstance(own, dict) or not closed or schema.get("additionalProperties", False):
        return None
    return own


def _lacking(source: str, taken: dict[str, dict[str, Any]]) -> Iterator[str]:
    for path in sorted(compile_expression(source, STANDARD).reads):
        name = path.removeprefix(_PREFIX).partition(".")[0]
        if path.startswith(_PREFIX) and not any(name in own for own in taken.values()):
            yield name


def _unfit(source: str, taken: dict[str, dict[str, Any]]) -> str:
    """Why a condition cannot be evaluated on arguments of these types; empty where it can."""
    said = ""
    # A number of JSON is an int or a double: it fits where it does as one of them.
    for number in (DOUBLE, INT):
        types: dict[str, list[Type]] = {}
        for own in taken.values():
            for name, schema in own.items():
                types.setdefault(f"{_PREFIX}{name}", []).append(_type(schema, number))
        known = {name: join(each).or_null() for name, each in types.items()}
        try:
            Checker(Vocabulary(STANDARD.words, ARGUMENTS, known)).check(parse(source))
            return ""
        except ConditionError as error:
            said = error.message
    return said


def _type(schema: Any, number: Type) -> Type:
    """The type of an argument, as far as its schema says one."""
    if not isinstance(schema, dict):
        return DYN
    kinds = schema.get("type")
    if kinds is None and isinstance(schema.get("anyOf"), list):
        kinds = [each.get("type") if isinstance(each, dict) else None for each in schema["anyOf"]]
    several = kinds if isinstance(kinds, list) else [kinds]
    named = [kind for kind in several if kind != "null"]
    if len(named) != 1 or not isinstance(named[0], str):
        return DYN
    return number if named[0] == "number" else _TYPES.get(named[0], DYN)


def _has_not(taken: dict[str, dict[str, Any]]) -> str:
    if len(taken) != 1:
        return f"none of {_named(taken)} has"
    ((tool, own),) = taken.items()
    takes = ", ".join([f"`{name}`" for name in list(own)[:SHOWN]])
    return f"`{tool}` does not have; it takes {takes if takes else 'no arguments'}"


def _named(tools: Mapping[str, Any]) -> str:
    more = len(tools) - SHOWN
    shown = ", ".join([f"`{tool}`" for tool in list(tools)[:SHOWN]])
    return shown if more <= 0 else f"{shown} and {more} more"

"""What is held against the tools that are known: conditions by arguments that none of them has or
by types that cannot meet, mandates by entries that no call can fit, and tools that act, of which
nobody says so."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from stanchion.kernel.contract.powers import having
from stanchion.kernel.declared import EFFECTS, READ, effect_of
from stanchion.kernel.mandate import TOOL, CallTemplate, Entry as MandateEntry, layer_of_task
from stanchion.kernel.names import glob, is_glob, names
from stanchion.policy.asking import AskPerson
from stanchion.policy.compiled import CompiledPolicy, GuardSeat
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
from stanchion.policy.conditions.type_checker import TypeChecker
from stanchion.policy.conditions.view import ARGUMENTS, STANDARD
from stanchion.policy.conditions.vocabulary import Vocabulary
from stanchion.policy.nearest import KnownNames, nearest
from stanchion.policy.rules import Rule
from stanchion.policy.schema import PolicyFile
from stanchion.policy.sequences import Sequence
from stanchion.readings.drafting import draft

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


class Saying(NamedTuple):
    """What is odd, what to do, and the path to it."""

    message: str
    advice: str
    path: tuple[str, ...] = ()


class _Condition(NamedTuple):
    """A condition of a guard, the path from its entry to it, and the tools it is about."""

    path: tuple[str, ...]
    source: str
    tools: tuple[Any, ...]

    def concerns(self, tool: str) -> bool:
        """Whether it can be about that tool."""
        return all(listed is None or tool in listed for listed in self.tools)


def about_arguments(seat: GuardSeat, schemas: Schemas) -> Iterator[Saying]:
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
            yield Saying(said, advice, condition.path)
        unfit = "" if lacking else _unfit(condition.source, taken)
        if unfit:
            said = f"`{seat.placed.id}` does not fit the arguments of {_named(taken)}"
            yield Saying(said, unfit, condition.path)


def written_schemas(file: PolicyFile) -> Schemas:
    """The schemas that a policy has of tools it names."""
    return {
        name: tool.schema
        for name, tool in file.tools.items()
        if tool.schema is not None and not is_glob(name)
    }


def _conditions(seat: GuardSeat) -> Iterator[_Condition]:
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
            TypeChecker(Vocabulary(STANDARD.words, ARGUMENTS, known)).check(parse(source))
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


NAMED: Final = 10
"""How many tools are named."""


def about_effects(
    policy: CompiledPolicy, schemas: Schemas, declared: Collection[str] = ()
) -> Iterator[tuple[GuardSeat, Saying]]:
    """Which tools seem to act, and neither the policy nor their code (`declared`) says what they
    do, for a guard that asks. What only reads is told by its name."""
    asking = next((seat for seat in policy.seats if _asks(seat)), None)
    if asking is None:
        return
    unsaid = [
        name
        for name, schema in schemas.items()
        if name not in declared
        and not effect_of(policy.known(name).traits)
        and draft(name, schema if isinstance(schema, Mapping) else None).effect != READ
    ]
    if unsaid:
        shown = ", ".join([f"`{name}`" for name in sorted(unsaid)[:NAMED]])
        more = f" and {len(unsaid) - NAMED} more" if len(unsaid) > NAMED else ""
        said = f"nobody says what these tools do, which seem to act: {shown}{more}"
        advice = (
            f"give each an `effect` under `tools`, as `stanchion tools draft` proposes; until then "
            f"`{asking.placed.id}` goes by their names"
        )
        yield asking, Saying(said, advice)


def _asks(seat: GuardSeat) -> bool:
    """Whether a guard asks what tools do: where values come from, or by a rule."""
    guard = seat.placed.guard
    if isinstance(guard, Rule):
        return any(
            "event.traits" in part.reads
            for part in (guard.when_condition, guard.check_condition)
            if part is not None
        )
    return having(guard, "recalls") is not None


def named_in(
    file: PolicyFile, tools: KnownNames
) -> Iterator[tuple[str, MandateEntry, str, tuple[str, ...]]]:
    """The entries of mandates that name a tool: the task, the entry, the tool, and the path to it.
    Where no tools are known, nobody can tell what is odd about one."""
    for task, said in file.tasks.items() if tools.names else ():
        layer = layer_of_task(said.may)
        for at, entry in enumerate(() if layer is None else layer):
            name = _tool_in(entry)
            if name:
                yield task, entry, name, ("tasks", task, "may", str(at))


def fitting(name: str, tools: KnownNames) -> list[str]:
    """The known tools that a name or glob fits."""
    return [tool for tool in tools.names if tool == name or glob(name, tool)]


def lacking_arguments(
    entry: MandateEntry, tools: list[str], schemas: Schemas
) -> Iterator[tuple[str, str]]:
    """Arguments that a mandate speaks of and no such tool has, each with the tool as it is
    named."""
    shapes = [schemas[tool] for tool in tools if tool in schemas]
    if isinstance(entry, CallTemplate) and shapes and len(shapes) == len(tools):
        for arg, _ in entry.args:
            if not any(_has(shape, arg) for shape in shapes):
                yield entry.tool, arg


def _tool_in(entry: MandateEntry) -> str:
    if isinstance(entry, CallTemplate):
        return entry.tool
    return "" if entry in EFFECTS else entry.removeprefix(TOOL)


def _has(schema: object, arg: str) -> bool:
    """Whether calls by a schema can have an argument; one that lists none can have any."""
    if not isinstance(schema, dict) or "properties" not in schema:
        return True
    return arg.partition(".")[0] in schema["properties"]

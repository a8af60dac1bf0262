"""Policies drawn from the schema itself, so that every key and option is tried, also those of
guards yet to come."""

from random import Random
from typing import Any, Final

from msgspec import inspect

NAMES: Final = ("scout", "read_*", "007", "on", "fix-login", "a b", "é", "tool.x")
JUNK: Final[tuple[Any, ...]] = (
    None,
    True,
    False,
    0,
    -1,
    7,
    1.5,
    -0.0,
    2**53 - 1,
    "",
    "yes",
    "shadow",
    "block",
    "tool_call",
    "step_limit",
    [],
    ["x"],
    [None],
    [[]],
    {},
    {"x": 1},
    {"use": "step_limit"},
    {"agents": ["x"]},
)


def draw(kind: inspect.Type, chance: Random, wrong: float = 0.0) -> Any:
    """A value of a type; each part of it is something else with the chance `wrong`."""
    if chance.random() < wrong:
        return chance.choice(JUNK)
    match kind:
        case inspect.Metadata():
            return draw(kind.type, chance, wrong)
        case inspect.UnionType():
            return draw(chance.choice(kind.types), chance, wrong)
        case inspect.NoneType():
            return None
        case inspect.BoolType():
            return chance.random() < 0.5
        case inspect.IntType() | inspect.FloatType():
            low = kind.ge if kind.ge is not None else 0 if kind.gt is None else kind.gt + 1
            high = min(
                [
                    low + 99,
                    *[
                        most
                        for most in (kind.le, None if kind.lt is None else kind.lt - 1)
                        if most is not None
                    ],
                ]
            )
            whole = int(low) + chance.randrange(max(1, int(high - low) + 1))
            return (
                whole
                if isinstance(kind, inspect.IntType) or chance.random() < 0.5
                else min(whole + 0.5, high)
            )
        case inspect.StrType():
            return chance.choice(NAMES)
        case inspect.LiteralType():
            return chance.choice(kind.values)
        case inspect.VarTupleType() | inspect.ListType():
            return [draw(kind.item_type, chance, wrong) for _ in range(chance.randrange(1, 4))]
        case inspect.DictType():
            return {
                chance.choice(NAMES): draw(kind.value_type, chance, wrong)
                for _ in range(chance.randrange(3))
            }
        case inspect.StructType():
            return _struct(kind, chance, wrong)
    return chance.choice(JUNK)


def _struct(kind: inspect.StructType, chance: Random, wrong: float) -> dict[str, Any]:
    full = chance.random() < 0.1
    entry: dict[str, Any] = {} if kind.tag_field is None else {kind.tag_field: kind.tag}
    for field in kind.fields:
        if full or (field.required and chance.random() >= wrong) or chance.random() < 0.3:
            entry[field.encode_name] = draw(field.type, chance, wrong)
    if chance.random() < wrong:
        entry[chance.choice(("nmae", "max_step", "", "use", "id", "tools"))] = chance.choice(JUNK)
    if chance.random() < wrong and entry:
        del entry[chance.choice(sorted(entry))]
    return entry

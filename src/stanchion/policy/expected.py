"""What a schema's types take, and how to say so to the author of a policy."""

from __future__ import annotations

import math
from enum import Enum
from typing import Any, Final

from msgspec import NODEFAULT, inspect

from stanchion.kernel.regex import regex
from stanchion.policy.document import Node, Value, shown

ARRAYS: Final = (
    inspect.ListType,
    inspect.VarTupleType,
    inspect.TupleType,
    inspect.SetType,
    inspect.FrozenSetType,
)
SCALARS: Final = (
    inspect.NoneType,
    inspect.BoolType,
    inspect.IntType,
    inspect.FloatType,
    inspect.StrType,
)
WORDS: Final = (inspect.LiteralType, inspect.EnumType)
MAPPINGS: Final = (inspect.DictType, inspect.StructType)

_SWITCHES: Final = {
    "yes": "true",
    "on": "true",
    "y": "true",
    "no": "false",
    "off": "false",
    "n": "false",
}
_AMOUNT: Final = regex(
    r"\s*(?:[$€£]|USD)?\s*(?P<number>[0-9][0-9_,]*(?:\.[0-9]+)?)\s*(?:%|[$€£]|USD|s|sec|seconds|tokens)?\s*"
)
"""A number with what it counts."""


def members(kind: inspect.Type) -> list[inspect.Type]:
    """The types of a union, or the one type, without what is only said about them."""
    while isinstance(kind, inspect.Metadata):
        kind = kind.type
    if isinstance(kind, inspect.UnionType):
        return [member for one in kind.types for member in members(one)]
    return [kind]


def known(kind: inspect.Type) -> bool:
    """Whether a type is checked here; others are left to the struct itself."""
    if isinstance(kind, inspect.StructType) and kind.array_like:
        return False
    return isinstance(kind, (*ARRAYS, *SCALARS, *WORDS, *MAPPINGS, inspect.AnyType))


def takes(kind: inspect.Type, value: Value) -> bool:
    """Whether a type takes values of this sort at all, be the value itself right or wrong."""
    match kind:
        case inspect.AnyType():
            return True
        case inspect.LiteralType() | inspect.EnumType():
            return any(type(word) is type(value) for word in words_of(kind))
        case inspect.StructType() | inspect.DictType():
            return isinstance(value, dict)
        case inspect.NoneType():
            return value is None
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.IntType():
            return isinstance(value, int) and not isinstance(value, bool)
        case inspect.FloatType():
            return isinstance(value, int | float) and not isinstance(value, bool)
        case inspect.StrType():
            return isinstance(value, str)
    return isinstance(kind, ARRAYS) and isinstance(value, list)


def words_of(kind: inspect.LiteralType | inspect.EnumType) -> tuple[Any, ...]:
    """The values that a literal or an enumeration takes."""
    if isinstance(kind, inspect.LiteralType):
        return tuple(kind.values)
    return tuple(member.value if isinstance(member, Enum) else member for member in kind.cls)


def out_of_bounds(value: float, kind: inspect.IntType | inspect.FloatType) -> str:
    """The number to give instead; empty where the number is within its bounds."""
    whole = "a whole number" if isinstance(kind, inspect.IntType) else "a number"
    if kind.ge is not None and value < kind.ge:
        return f"{whole} of at least {kind.ge}"
    if kind.gt is not None and value <= kind.gt:
        return f"{whole} above {kind.gt}"
    if kind.le is not None and value > kind.le:
        return f"{whole} of at most {kind.le}"
    if kind.lt is not None and value >= kind.lt:
        return f"{whole} below {kind.lt}"
    if kind.multiple_of is not None and math.fmod(value, kind.multiple_of) != 0:
        return f"a multiple of {kind.multiple_of}"
    return ""


def phrase(kind: inspect.Type) -> str:
    """A type in words."""
    match kind:
        case inspect.BoolType():
            return "`true` or `false`"
        case inspect.IntType():
            return "a whole number"
        case inspect.FloatType():
            return "a number"
        case inspect.StrType():
            return "text"
        case inspect.NoneType():
            return "nothing"
        case inspect.LiteralType() | inspect.EnumType():
            return f"one of {', '.join(f'`{word}`' for word in words_of(kind))}"
    return "a list" if isinstance(kind, ARRAYS) else "a mapping"


def example(kind: inspect.Type, name: str) -> str:
    """A value of that type as a file would have it."""
    if isinstance(kind, inspect.Metadata):
        given = (kind.extra_json_schema if kind.extra_json_schema is not None else {}).get(
            "examples"
        )
        if given:
            return str(given[0])
    first = next((one for one in members(kind) if not isinstance(one, inspect.NoneType)), kind)
    match first:
        case inspect.BoolType():
            return "true"
        case inspect.IntType() | inspect.FloatType():
            return str(max([1, *(bound for bound in (first.ge,) if bound is not None)]))
        case inspect.LiteralType() | inspect.EnumType():
            return str(words_of(first)[0])
        case inspect.StrType() | inspect.AnyType():
            return f"my-{name.removesuffix('s').replace('_', '-')}"
        case (
            inspect.ListType()
            | inspect.VarTupleType()
            | inspect.SetType()
            | inspect.FrozenSetType()
        ):
            inner = members(first.item_type)[0]
            return "[…]" if isinstance(inner, ARRAYS) else f"[{example(inner, name)}]"
        case inspect.StructType() if first.tag_field is not None:
            return f"{{{first.tag_field}: {first.tag}}}"
        case inspect.StructType() if first.fields:
            return f"{{{first.fields[0].encode_name}: …}}"
    return "[]" if isinstance(first, ARRAYS) else "{}"


def refusal(node: Node, wanted: list[inspect.Type], field: inspect.Field | None) -> str:
    """Why a node's value is of the wrong sort, and what to write instead."""
    kinds = [one for one in wanted if not isinstance(one, inspect.NoneType)]
    words = list(dict.fromkeys(phrase(kind) for kind in (kinds if kinds else wanted)))
    what = _sort(node)
    return f"{what} was found where {' or '.join(words)} is expected: {_advice(node, kinds, field)}"


def _sort(node: Node) -> str:
    match node.value:
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case None:
            return "nothing" if not node.text else shown(node.text)
        case str():
            return f"the text {shown(node.text)}"
    return shown(node.text)


def _advice(node: Node, kinds: list[inspect.Type], field: inspect.Field | None) -> str:
    value, text = node.value, node.text
    sorts = tuple(type(kind) for kind in kinds)
    if isinstance(value, str) and inspect.BoolType in sorts and text.lower() in _SWITCHES:
        return f"write `{_SWITCHES[text.lower()]}`"
    if isinstance(value, str) and {inspect.IntType, inspect.FloatType} & {*sorts}:
        bare = text.replace("_", "").lstrip("0")
        if bare.isascii() and bare.isdigit():
            return f"write `{bare}`, without quotes, underscores or leading zeros"
        amount = _AMOUNT.fullmatch(text)
        if amount is not None:
            return f"write the number alone: `{amount['number'].replace(',', '').replace('_', '')}`"
    if isinstance(value, dict) and any(sort in ARRAYS for sort in sorts):
        return "begin each entry with `- `"
    tagged = next(
        (kind for kind in kinds if isinstance(kind, inspect.StructType) and kind.tag_field), None
    )
    if isinstance(value, str) and tagged is not None:
        return f"write `{tagged.tag_field}: {shown(text)[1:-1]}`"
    if isinstance(value, bool | int | float) and inspect.StrType in sorts:
        return f'put it in quotes: `"{text}"`'
    if (
        not isinstance(value, dict | list)
        and value is not None
        and any(sort in ARRAYS for sort in sorts)
    ):
        return f"put it in brackets: `[{shown(text)[1:-1]}]`"
    if field is not None:
        usual = field.default
        plain = (
            usual is not NODEFAULT and isinstance(usual, bool | int | float | str) and usual != ""
        )
        sample = (str(usual).lower() if isinstance(usual, bool) else str(usual)) if plain else None
        sample = example(field.type, field.encode_name) if sample is None else sample
        return f"correct it, such as `{field.encode_name}: {sample}`"
    return f"correct it, such as `{example(kinds[0], 'name')}`" if kinds else "leave it out"

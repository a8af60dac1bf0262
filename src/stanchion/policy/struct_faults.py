"""What is wrong with a document by a struct: every mistake at its place, with what its type takes
and what to write instead."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Hashable, Iterable
from enum import Enum
from functools import cache
from typing import Any, Final

from msgspec import NODEFAULT, inspect

from stanchion.kernel.regex import regex
from stanchion.policy.document import DocumentNode, Location, UnreadableValue, Value, shown
from stanchion.policy.errors import Fault
from stanchion.policy.nearest import elsewhere, hint, nearest

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


_TAKES: Final[dict[type[inspect.Type], Any]] = {
    inspect.StructType: dict,
    inspect.DictType: dict,
    inspect.NoneType: type(None),
    inspect.BoolType: bool,
    inspect.IntType: int,
    inspect.FloatType: (int, float),
    inspect.StrType: str,
    **dict.fromkeys(ARRAYS, list),
}
"""Of what type the values are that a type takes."""
_PHRASES: Final[dict[type[inspect.Type], str]] = {
    inspect.BoolType: "`true` or `false`",
    inspect.IntType: "a whole number",
    inspect.FloatType: "a number",
    inspect.StrType: "text",
    inspect.NoneType: "nothing",
    **dict.fromkeys(ARRAYS, "a list"),
}
"""What a type is in words."""


def takes(kind: inspect.Type, value: Value) -> bool:
    """Whether a type takes values of this sort at all, be the value itself right or wrong."""
    if isinstance(kind, inspect.LiteralType | inspect.EnumType):
        return any(type(word) is type(value) for word in words_of(kind))
    wanted = _TAKES.get(type(kind), ())
    return isinstance(kind, inspect.AnyType) or (
        isinstance(value, wanted) and isinstance(value, bool) <= (wanted is bool)
    )


def words_of(kind: inspect.LiteralType | inspect.EnumType) -> tuple[Any, ...]:
    """The values that a literal or an enumeration takes."""
    if isinstance(kind, inspect.LiteralType):
        return tuple(kind.values)
    return tuple(member.value if isinstance(member, Enum) else member for member in kind.cls)


def out_of_bounds(value: float, kind: inspect.IntType | inspect.FloatType) -> str:
    """The number to give instead; empty where the number is within its bounds."""
    for bound, fits, words in (
        (kind.ge, operator.ge, "of at least"),
        (kind.gt, operator.gt, "above"),
        (kind.le, operator.le, "of at most"),
        (kind.lt, operator.lt, "below"),
    ):
        if bound is not None and not fits(value, bound):
            return f"{phrase(kind)} {words} {bound}"
    if kind.multiple_of is not None and math.fmod(value, kind.multiple_of) != 0:
        return f"a multiple of {kind.multiple_of}"
    return ""


def phrase(kind: inspect.Type) -> str:
    """A type in words."""
    if isinstance(kind, inspect.LiteralType | inspect.EnumType):
        return f"one of {', '.join(f'`{word}`' for word in words_of(kind))}"
    return _PHRASES.get(type(kind), "a mapping")


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


def refusal(node: DocumentNode, wanted: list[inspect.Type], field: inspect.Field | None) -> str:
    """Why a node's value is of the wrong sort, and what to write instead."""
    kinds = [one for one in wanted if not isinstance(one, inspect.NoneType)]
    words = list(dict.fromkeys(phrase(kind) for kind in (kinds if kinds else wanted)))
    what = _sort(node)
    return f"{what} was found where {' or '.join(words)} is expected: {_advice(node, kinds, field)}"


def _sort(node: DocumentNode) -> str:
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


def _advice(node: DocumentNode, kinds: list[inspect.Type], field: inspect.Field | None) -> str:
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


def faults_in(root: DocumentNode, kind: Hashable) -> list[Fault]:
    """The faults of a node by a type, in the document's order."""
    checking = _Checking()
    checking.visit(root, _schema(kind), None)
    return checking.faults


@cache
def _schema(kind: Hashable) -> inspect.Type:
    return inspect.type_info(kind)


class _Checking:
    """Walks a document along its schema and collects faults."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self._by_name: dict[int, dict[str, inspect.Field]] = {}

    def fault(self, at: Location, message: str) -> None:
        self.faults.append(Fault(str(at), message))

    def _fields(self, struct: inspect.StructType) -> dict[str, inspect.Field]:
        known = self._by_name.get(id(struct))
        if known is None:
            known = self._by_name[id(struct)] = {
                field.encode_name: field for field in struct.fields
            }
        return known

    def visit(self, node: DocumentNode, kind: inspect.Type, field: inspect.Field | None) -> None:
        """Check a node against a type; `field` is the struct's field that it fills, if it fills
        one."""
        wanted = members(kind)
        value = node.value
        if isinstance(value, UnreadableValue) or not all(known(one) for one in wanted):
            return
        fitting = sorted([one for one in wanted if takes(one, value)], key=_rank)
        if not fitting:
            self.fault(node.at, refusal(node, wanted, field))
        elif isinstance(value, dict):
            self._mapping(node, value, fitting)
        elif isinstance(value, list):
            self._array(node, value, fitting[0])
        else:
            self._scalar(node, fitting[0], field)

    def _scalar(self, node: DocumentNode, kind: inspect.Type, field: inspect.Field | None) -> None:
        value = node.value
        match kind:
            case inspect.LiteralType() | inspect.EnumType():
                words = words_of(kind)
                if not any(type(word) is type(value) and word == value for word in words):
                    whose = f" of `{field.encode_name}`" if field is not None else ""
                    self.fault(
                        node.at,
                        f"{shown(node.text)} is not a value{whose}: {_instead(node.text, words)}",
                    )
            case inspect.IntType() | inspect.FloatType() if isinstance(value, int | float):
                wanted = out_of_bounds(value, kind)
                if wanted:
                    self.fault(node.at, f"{shown(node.text)} is out of bounds: give {wanted}")
            case inspect.StrType() if isinstance(value, str):
                self._length(node, len(value), kind, "characters")
                if kind.pattern is not None and not re.search(kind.pattern, value):
                    self.fault(
                        node.at,
                        f"{shown(value)} does not match the pattern {shown(kind.pattern)}: change "
                        f"it",
                    )

    def _length(self, node: DocumentNode, length: int, kind: Any, what: str) -> None:
        if kind.min_length is not None and length < kind.min_length:
            self.fault(node.at, f"{length} {what} are too few: give at least {kind.min_length}")
        if kind.max_length is not None and length > kind.max_length:
            self.fault(node.at, f"{length} {what} are too many: give at most {kind.max_length}")

    def _array(self, node: DocumentNode, items: list[DocumentNode], kind: Any) -> None:
        if isinstance(kind, inspect.AnyType):
            return
        if isinstance(kind, inspect.TupleType):
            if len(items) != len(kind.item_types):
                self.fault(node.at, f"{len(items)} items stand here: give {len(kind.item_types)}")
            for item, item_kind in zip(items, kind.item_types, strict=False):
                self.visit(item, item_kind, None)
            return
        self._length(node, len(items), kind, "items")
        for item in items:
            self.visit(item, kind.item_type, None)

    def _mapping(
        self, node: DocumentNode, entries: dict[str, DocumentNode], kinds: list[inspect.Type]
    ) -> None:
        first = kinds[0]
        if isinstance(first, inspect.DictType):
            self._length(node, len(entries), first, "entries")
            for name, child in entries.items():
                self.visit(
                    DocumentNode(name, child.named_at, None, name),
                    first.key_type,
                    None,
                )
                self.visit(child, first.value_type, None)
        elif isinstance(first, inspect.StructType):
            structs = [kind for kind in kinds if isinstance(kind, inspect.StructType)]
            if first.tag_field is None or len(structs) == 1:
                self._struct(node, entries, first)
            else:
                self._tagged(node, entries, first.tag_field, {str(one.tag): one for one in structs})

    def _tagged(
        self,
        node: DocumentNode,
        entries: dict[str, DocumentNode],
        by: str,
        structs: dict[str, inspect.StructType],
    ) -> None:
        """One of several structs, told apart by a key; where that key is wrong, what all of them
        share is checked."""
        tag = entries.get(by)
        if tag is not None and isinstance(tag.value, str) and tag.value in structs:
            self._struct(node, entries, structs[tag.value], structs)
            return
        if tag is None:
            self.fault(
                node.at, f"`{by}` is missing: add one, such as `{by}: {next(iter(structs))}`"
            )
        elif not isinstance(tag.value, UnreadableValue):
            self.fault(
                tag.at, f"{shown(tag.text)} is not a value of `{by}`: {hint(tag.text, structs)}"
            )
        fields = [self._fields(struct) for struct in structs.values()]
        for name, child in entries.items():
            having = [one[name] for one in fields if name in one]
            if len(having) == len(fields) and all(field == having[0] for field in having):
                self.visit(child, having[0].type, having[0])
            elif (
                not having
                and name != by
                and all(one.forbid_unknown_fields for one in structs.values())
            ):
                self._unknown(child, name, {by, *(known for one in fields for known in one)})

    def _struct(
        self,
        node: DocumentNode,
        entries: dict[str, DocumentNode],
        struct: inspect.StructType,
        others: dict[str, inspect.StructType] | None = None,
    ) -> None:
        fields = self._fields(struct)
        above = ""
        for name, child in entries.items():
            field = fields.get(name)
            if field is not None and _astray(child, field) and _may_hold(entries.get(above)):
                self._outside(child, name, above, "a list was found where a mapping is expected")
            elif field is not None:
                above = name
                self.visit(child, field.type, field)
            elif name == struct.tag_field:
                self.visit(
                    child,
                    inspect.LiteralType((struct.tag,)),
                    inspect.Field(name, name, inspect.AnyType()),
                )
            elif struct.forbid_unknown_fields:
                owners = [
                    tag
                    for tag, one in (others if others is not None else {}).items()
                    if name in self._fields(one)
                ]
                known = {*fields, struct.tag_field} - {None}
                if nearest(name, tuple(fields)) is None and _may_hold(entries.get(above)):
                    self._outside(child, name, above)
                else:
                    self._unknown(child, name, known, owners, str(struct.tag))
        for name, field in fields.items():
            if field.required and name not in entries:
                self.fault(
                    node.at,
                    f"`{name}` is missing: add it, such as `{name}: {example(field.type, name)}`",
                )

    def _outside(self, node: DocumentNode, name: str, above: str, what: str = "") -> None:
        at = node.named_at
        said = what if what else f"the key {shown(name)} is not known here"
        self.fault(at, f"{said}: indent it further if it belongs to `{above}` above")

    def _unknown(
        self,
        node: DocumentNode,
        name: str,
        known: set[Any],
        owners: list[str] | None = None,
        tag: str = "",
    ) -> None:
        at = node.named_at
        if owners:
            listed = ", ".join(f"`{owner}`" for owner in owners)
            self.fault(
                at,
                f"{shown(name)} is not an option of `{tag}` but of {listed}: leave it out, or "
                f"{hint(name, known)}",
            )
        else:
            instead = elsewhere(name)
            self.fault(
                at,
                f"the key {shown(name)} is not known: "
                f"{hint(name, known) if instead is None else instead}",
            )


def _astray(node: DocumentNode, field: inspect.Field) -> bool:
    """Whether a list stands under a key whose own value is a mapping, as an option of a guard above
    may be called."""
    return isinstance(node.value, list) and not any(
        takes(one, node.value) for one in members(field.type)
    )


def _may_hold(node: DocumentNode | None) -> bool:
    """Whether what stands below a key, and is none of its mapping, may have been meant to stand in
    it."""
    return node is not None and (
        node.value is None or (isinstance(node.value, list) and bool(node.value))
    )


def _rank(kind: inspect.Type) -> bool:
    """A whole number is read as one where a union has both sorts."""
    return isinstance(kind, inspect.FloatType)


def _instead(text: str, words: Iterable[object]) -> str:
    """What to write in the place of a word: the only one there is, as it stands in a file, or the
    nearest."""
    written = [str(word).lower() if isinstance(word, bool) else str(word) for word in words]
    return f"write `{written[0]}`, or leave it out" if len(written) == 1 else hint(text, written)

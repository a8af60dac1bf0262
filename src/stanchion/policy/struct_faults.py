"""What is wrong with a document by a struct: every mistake at its place, with what to write
instead."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from functools import cache
from typing import Any

from msgspec import inspect

from stanchion.policy.document import Location, Node, Unreadable, shown
from stanchion.policy.errors import Fault
from stanchion.policy.expected import (
    example,
    known,
    members,
    out_of_bounds,
    refusal,
    takes,
    words_of,
)
from stanchion.policy.nearest import hint, nearest
from stanchion.policy.other_words import elsewhere


def faults_in(root: Node, kind: Hashable) -> list[Fault]:
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

    def visit(self, node: Node, kind: inspect.Type, field: inspect.Field | None) -> None:
        """Check a node against a type; `field` is the struct's field that it fills, if it fills
        one."""
        wanted = members(kind)
        value = node.value
        if isinstance(value, Unreadable) or not all(known(one) for one in wanted):
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

    def _scalar(self, node: Node, kind: inspect.Type, field: inspect.Field | None) -> None:
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

    def _length(self, node: Node, length: int, kind: Any, what: str) -> None:
        if kind.min_length is not None and length < kind.min_length:
            self.fault(node.at, f"{length} {what} are too few: give at least {kind.min_length}")
        if kind.max_length is not None and length > kind.max_length:
            self.fault(node.at, f"{length} {what} are too many: give at most {kind.max_length}")

    def _array(self, node: Node, items: list[Node], kind: Any) -> None:
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

    def _mapping(self, node: Node, entries: dict[str, Node], kinds: list[inspect.Type]) -> None:
        first = kinds[0]
        if isinstance(first, inspect.DictType):
            self._length(node, len(entries), first, "entries")
            for name, child in entries.items():
                self.visit(
                    Node(name, child.at if child.key is None else child.key, None, name),
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
        self, node: Node, entries: dict[str, Node], by: str, structs: dict[str, inspect.StructType]
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
        elif not isinstance(tag.value, Unreadable):
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
        node: Node,
        entries: dict[str, Node],
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

    def _outside(self, node: Node, name: str, above: str, what: str = "") -> None:
        at = node.at if node.key is None else node.key
        said = what if what else f"the key {shown(name)} is not known here"
        self.fault(at, f"{said}: indent it further if it belongs to `{above}` above")

    def _unknown(
        self, node: Node, name: str, known: set[Any], owners: list[str] | None = None, tag: str = ""
    ) -> None:
        at = node.at if node.key is None else node.key
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


def _astray(node: Node, field: inspect.Field) -> bool:
    """Whether a list stands under a key whose own value is a mapping, as an option of a guard above
    may be called."""
    return isinstance(node.value, list) and not any(
        takes(one, node.value) for one in members(field.type)
    )


def _may_hold(node: Node | None) -> bool:
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

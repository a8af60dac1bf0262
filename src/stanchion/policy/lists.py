"""Lists in overlays: `tools+` adds to the list that is inherited, `tools=` stands in its place.

A list without a mark stands in its place too, which is easily forgotten: what it leaves out is told
to whoever lints.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import msgspec

from stanchion.kernel.tuples import NamedTuple
from stanchion.policy.document import Document, Location, Node
from stanchion.policy.errors import Fault

ADD: Final = "+"
REPLACE: Final = "="


class Replaced(msgspec.Struct, frozen=True):
    """A list of an overlay that took the place of another: where it stands, whose it is (a guard's
    `use`, or a table), and what of the other is not in it. `blank`: nothing stands behind the key,
    which takes lists and mappings away."""

    at: Location
    owner: str
    key: str
    lost: tuple[str, ...]
    blank: bool = False


class Key(NamedTuple):
    """A key as it is written, without its mark, and the mark."""

    name: str
    mark: str


def read_key(key: str, node: Node) -> Key:
    """A key apart from its mark. Only a list can have one, and only under a word of the format: a
    tool may be called `c++`."""
    if (
        key[-1:] not in (ADD, REPLACE)
        or not isinstance(node.value, list)
        or key[:-1] not in _words()
    ):
        return Key(key, "")
    return Key(key[:-1], key[-1])


def twice(said: dict[str, Node]) -> list[Fault]:
    """Keys that stand in a mapping both with and without a mark."""
    seen: dict[str, Node] = {}
    faults = []
    for key, node in said.items():
        name = read_key(key, node).name
        first = seen.setdefault(name, node)
        if first is not node:
            at = node.at if node.key is None else node.key
            faults.append(
                Fault(
                    str(at),
                    f"`{name}` appears here a second time, as `{key}`: write only one of them",
                )
            )
    return faults


def joined(below: list[Node], above: list[Node]) -> list[Node]:
    """A list, and behind it what of another is not in it."""
    known = [item.data() for item in below]
    return [*below, *[item for item in above if item.data() not in known]]


def lost(below: list[Node], above: list[Node]) -> tuple[str, ...]:
    """The texts of a list that another does not have."""
    kept = [item.data() for item in above]
    return tuple([item.text for item in below if item.data() not in kept and item.text])


def settled(document: Document) -> Document:
    """The document as it takes effect by itself, with nothing more below it: what was to be added
    is all there is, or is added to what a guard has without being told."""
    faults: list[Fault] = []
    root = _settled(document.root, faults)
    if root is document.root and not faults:
        return document
    return msgspec.structs.replace(
        document, root=root, faults=tuple(dict.fromkeys([*document.faults, *faults]))
    )


def _settled(node: Node, faults: list[Fault]) -> Node:
    value = node.value
    if isinstance(value, list):
        items = [_settled(item, faults) for item in value]
        return node if all(map(_is, items, value)) else Node(items, node.at, node.key)
    if not isinstance(value, dict):
        return node
    made: dict[str, Node] = {}
    changed = False
    for key, child in value.items():
        name, mark = read_key(key, child)
        now = _settled(child, faults)
        if mark == ADD and isinstance(now.value, list):
            now = Node(joined(_usual(value, name, now), now.value), now.at, now.key)
        changed = changed or bool(mark) or now is not child
        made[name] = now
    if not changed:
        return node
    faults += twice(value)
    return Node(made, node.at, node.key)


def _is(one: Node, other: Node) -> bool:
    return one is other


def _usual(entry: dict[str, Node], option: str, over: Node) -> list[Node]:
    """What a guard's list has in it where its entry does not say."""
    from stanchion.policy.schema import GUARDS

    use = entry.get("use")
    guard = GUARDS.get(use.value) if use is not None and isinstance(use.value, str) else None
    usual = (
        {} if guard is None else {one.name: one.default for one in msgspec.structs.fields(guard)}
    )
    listed = usual.get(option)
    return (
        [Node(one, over.at, None, str(one)) for one in listed] if isinstance(listed, tuple) else []
    )


@cache
def _words() -> frozenset[str]:
    """Every word of the format that a list can stand under."""
    from stanchion.policy.schema import ENTRIES, PolicyFile

    found: set[str] = set()
    walked: set[object] = set()
    rest: list[object] = [
        msgspec.inspect.type_info(kind) for kind in (PolicyFile, *ENTRIES.values())
    ]
    while rest:
        kind = rest.pop()
        match kind:
            case msgspec.inspect.StructType() if kind.cls not in walked:
                walked.add(kind.cls)
                for field in kind.fields:
                    rest.append(field.type)
                    found |= {field.encode_name} if _takes_list(field.type) else set()
            case msgspec.inspect.UnionType():
                rest += kind.types
            case msgspec.inspect.DictType():
                rest.append(kind.value_type)
            case msgspec.inspect.VarTupleType() | msgspec.inspect.ListType():
                rest.append(kind.item_type)
    return frozenset(found)


def _takes_list(kind: object) -> bool:
    if isinstance(kind, msgspec.inspect.UnionType):
        return any(_takes_list(one) for one in kind.types)
    return isinstance(kind, msgspec.inspect.VarTupleType | msgspec.inspect.ListType)

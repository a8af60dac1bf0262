"""Merging what one document says into another.

- Mappings merge key by key: the keys below keep their order, new keys follow in the order of the
  overlay.
- `null` removes a key. Where there is nothing to remove, the null stays, so that a misspelt key is
  found.
- Lists whose entries have an `id` or a `use` merge entry by entry: the entries below keep their
  order, new ones follow
  in the order of the overlay. An entry is the same if its id is; without one its id is its `use`
  with hyphens; failing that it is the only entry with this `use`. An entry that has another `use`
  replaces the one of its id as a whole. An empty list removes all.
- A list under a key with a plus (`tools+`) is added to what lies below. Where nothing does, the key
  stays
  as it is, for what may lie below that.
- Everything else is replaced. For a list, an equals sign behind its key (`tools=`) says that this
  is meant.

Each value keeps its own place, so a mistake in an overlay is reported at the overlay's own line.

What a list without a mark leaves out is easily forgotten: it is told to whoever lints.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import msgspec

from stanchion.kernel.tuples import NamedTuple
from stanchion.policy.document import Document, DocumentNode, Location, shown
from stanchion.policy.errors import Fault
from stanchion.policy.nearest import hint
from stanchion.policy.schema import ENTRIES, GUARDS, PolicyFile, usual_id

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


class MarkedKey(NamedTuple):
    """A key as it is written, without its mark, and the mark."""

    name: str
    mark: str


def read_key(key: str, node: DocumentNode) -> MarkedKey:
    """A key apart from its mark. Only a list can have one, and only under a word of the format: a
    tool may be called `c++`."""
    if (
        key[-1:] not in (ADD, REPLACE)
        or not isinstance(node.value, list)
        or key[:-1] not in _words()
    ):
        return MarkedKey(key, "")
    return MarkedKey(key[:-1], key[-1])


def twice(said: dict[str, DocumentNode]) -> list[Fault]:
    """Keys that stand in a mapping both with and without a mark."""
    seen: dict[str, DocumentNode] = {}
    faults = []
    for key, node in said.items():
        name = read_key(key, node).name
        first = seen.setdefault(name, node)
        if first is not node:
            at = node.named_at
            faults.append(
                Fault(
                    str(at),
                    f"`{name}` appears here a second time, as `{key}`: write only one of them",
                )
            )
    return faults


def joined(below: list[DocumentNode], above: list[DocumentNode]) -> list[DocumentNode]:
    """A list, and behind it what of another is not in it."""
    known = [item.data() for item in below]
    return [*below, *[item for item in above if item.data() not in known]]


def lost(below: list[DocumentNode], above: list[DocumentNode]) -> tuple[str, ...]:
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


def _settled(node: DocumentNode, faults: list[Fault]) -> DocumentNode:
    value = node.value
    if isinstance(value, list):
        items = [_settled(item, faults) for item in value]
        return node if all(map(_is, items, value)) else node.holding(items)
    if not isinstance(value, dict):
        return node
    made: dict[str, DocumentNode] = {}
    changed = False
    for key, child in value.items():
        name, mark = read_key(key, child)
        now = _settled(child, faults)
        if mark == ADD and isinstance(now.value, list):
            now = now.holding(joined(_usual(value, name, now), now.value))
        changed = changed or bool(mark) or now is not child
        made[name] = now
    if not changed:
        return node
    faults += twice(value)
    return node.holding(made)


def _is(one: DocumentNode, other: DocumentNode) -> bool:
    return one is other


def _usual(entry: dict[str, DocumentNode], option: str, over: DocumentNode) -> list[DocumentNode]:
    """What a guard's list has in it where its entry does not say."""
    use = entry.get("use")
    guard = GUARDS.get(use.value) if use is not None and isinstance(use.value, str) else None
    usual = (
        {} if guard is None else {one.name: one.default for one in msgspec.structs.fields(guard)}
    )
    listed = usual.get(option)
    return (
        [DocumentNode(one, over.at, None, str(one)) for one in listed]
        if isinstance(listed, tuple)
        else []
    )


@cache
def _words() -> frozenset[str]:
    """Every word of the format that a list can stand under."""
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


NAMING: Final = frozenset({"id", "use"})
"""Keys by which an overlay's entry says which one it changes."""


def merge(
    under: DocumentNode, over: DocumentNode, faults: list[Fault], replaced: list[Replaced]
) -> DocumentNode:
    """What lies under, changed by what lies over it; both are left as they were. Faults are added
    to the list, and lists that took the place of others without saying so to the other."""
    return _Merging(faults, replaced).node(under, over)


class _Merging:
    """Merges nodes into new ones; what went in is left as it was."""

    def __init__(self, faults: list[Fault], replaced: list[Replaced]) -> None:
        self.faults, self.replaced = faults, replaced
        self._owner = ""

    def node(self, under: DocumentNode, over: DocumentNode) -> DocumentNode:
        match under.value, over.value:
            case dict() as below, dict() as above:
                return self._mappings(under, over, below, above)
            case list() as below, list() as above if above and any(
                identity_of(item) for item in below
            ):
                return over.holding(self._entries(below, above))
        return over

    def _list(self, name: str, under: DocumentNode, over: DocumentNode) -> DocumentNode:
        """A list that stands over another without a mark."""
        made = self.node(under, over)
        if made is over and isinstance(under.value, list) and isinstance(over.value, list):
            entries = tuple([identity_of(item) for item in under.value if identity_of(item)])
            self._told(name, over, lost(under.value, over.value) if over.value else entries)
        return made

    def _told(
        self, name: str, over: DocumentNode, gone: tuple[str, ...], blank: bool = False
    ) -> None:
        if gone:
            at = over.named_at
            self.replaced.append(Replaced(at, self._owner, name, gone, blank))

    def _added(self, name: str, under: DocumentNode, over: DocumentNode) -> DocumentNode:
        if not isinstance(under.value, list) or not isinstance(over.value, list):
            self._fault(
                over,
                f"`{name}{ADD}` adds to a list, but `{name}` is not a list at {under.at}: write "
                f"`{name}`",
            )
            return under
        if any(identity_of(item) for item in under.value):
            return self.node(under, over)
        return under.holding(joined(under.value, over.value))

    def _mappings(
        self,
        under: DocumentNode,
        over: DocumentNode,
        below: dict[str, DocumentNode],
        above: dict[str, DocumentNode],
    ) -> DocumentNode:
        merged = dict(below)
        removed = False
        self.faults += twice(above)
        for written, node in above.items():
            key, mark = read_key(written, node)
            adding = f"{key}{ADD}"
            if mark == ADD:
                to = key if key in below else adding
                merged[to] = self._added(key, below[to], node) if to in below else node
                continue
            # Whatever was to be added below has nothing to be added to any more.
            merged.pop(adding, None)
            if mark == REPLACE or key not in below:
                merged[key] = node
            elif node.value is None:
                if not node.text:
                    self._told(key, node, _inside(below[key]), blank=True)
                del merged[key]
                removed = True
            else:
                merged[key] = self._list(key, below[key], node)
        # What is missing afterwards was removed by the overlay, or was missing below already.
        at, key_at = (over.at, over.key) if removed else (under.at, under.key)
        changed = {
            **dict(under.changed),
            **{key: node.named_at for key, node in above.items()},
        }
        return DocumentNode(
            merged,
            at,
            key_at,
            "",
            tuple([(key, place) for key, place in changed.items() if key not in NAMING]),
        )

    def _entries(self, below: list[DocumentNode], above: list[DocumentNode]) -> list[DocumentNode]:
        merged = list(below)
        taken: dict[int, Location] = {}
        for item in above:
            at = self._same(below, item)
            if at is None:
                merged.append(item)
            elif at in taken:
                self._fault(
                    item,
                    f"{shown(identity_of(item))} is changed a second time: the first is at "
                    f"{taken[at]}",
                )
            elif at >= 0:
                taken[at] = item.at
                merged[at] = self._entry(below[at], item)
        return merged

    def _same(self, below: list[DocumentNode], item: DocumentNode) -> int | None:
        """The number of the entry that an overlay's entry changes, `None` if it is a new one, -1 if
        it is at fault."""
        identity, use = identity_of(item), _word(item, "use")
        if not identity:
            return None
        known = [identity_of(entry) for entry in below]
        if identity in known:
            return known.index(identity)
        alike = [at for at, entry in enumerate(below) if use and _word(entry, "use") == use]
        if not _word(item, "id") and len(alike) == 1:
            return alike[0]
        if not _word(item, "id") and alike:
            ids = [known[at] for at in alike]
            self._fault(
                item,
                f"{len(alike)} entries use `{use}`: give the `id` of the one you mean: "
                f"{', '.join(ids)}",
            )
            return -1
        if not use and any(_word(entry, "use") for entry in below):
            what = f"there is no entry {shown(identity)} to change"
            self._fault(item, f"{what}: {hint(identity, known)} A new entry needs a `use`.")
            return -1
        return None

    def _entry(self, under: DocumentNode, over: DocumentNode) -> DocumentNode:
        use, was = _word(over, "use"), self._owner
        self._owner = _word(under, "use")
        try:
            return over if use and use != self._owner else self.node(under, over)
        finally:
            self._owner = was

    def _fault(self, node: DocumentNode, message: str) -> None:
        self.faults.append(Fault(str(node.at), message))


def _word(node: DocumentNode, key: str) -> str:
    child = node.fields.get(key)
    return child.value if child is not None and isinstance(child.value, str) else ""


def _inside(node: DocumentNode) -> tuple[str, ...]:
    """What a list or a mapping holds, by name."""
    if isinstance(node.value, dict):
        return tuple(node.value)
    items = node.items
    return tuple(
        [name for item in items if (name := identity_of(item) if identity_of(item) else item.text)]
    )


def identity_of(node: DocumentNode) -> str:
    """The id of an entry: its own, or the one that its `use` gives it."""
    own = _word(node, "id")
    return own if own else usual_id(_word(node, "use"))

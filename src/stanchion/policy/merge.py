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
"""

from __future__ import annotations

from typing import Final

from stanchion.policy.document import Location, Node, shown
from stanchion.policy.errors import Fault
from stanchion.policy.lists import ADD, REPLACE, Replaced, joined, lost, read_key, twice
from stanchion.policy.schema import usual_id

NAMING: Final = frozenset({"id", "use"})
"""Keys by which an overlay's entry says which one it changes."""


def merge(under: Node, over: Node, faults: list[Fault], replaced: list[Replaced]) -> Node:
    """What lies under, changed by what lies over it; both are left as they were. Faults are added
    to the list, and lists that took the place of others without saying so to the other."""
    return _Merging(faults, replaced).node(under, over)


class _Merging:
    """Merges nodes into new ones; what went in is left as it was."""

    def __init__(self, faults: list[Fault], replaced: list[Replaced]) -> None:
        self.faults, self.replaced = faults, replaced
        self._owner = ""

    def node(self, under: Node, over: Node) -> Node:
        match under.value, over.value:
            case dict() as below, dict() as above:
                return self._mappings(under, over, below, above)
            case list() as below, list() as above if above and any(
                identity_of(item) for item in below
            ):
                return Node(self._entries(below, above), over.at, over.key)
        return over

    def _list(self, name: str, under: Node, over: Node) -> Node:
        """A list that stands over another without a mark."""
        made = self.node(under, over)
        if made is over and isinstance(under.value, list) and isinstance(over.value, list):
            entries = tuple([identity_of(item) for item in under.value if identity_of(item)])
            self._told(name, over, lost(under.value, over.value) if over.value else entries)
        return made

    def _told(self, name: str, over: Node, gone: tuple[str, ...], blank: bool = False) -> None:
        if gone:
            at = over.at if over.key is None else over.key
            self.replaced.append(Replaced(at, self._owner, name, gone, blank))

    def _added(self, name: str, under: Node, over: Node) -> Node:
        if not isinstance(under.value, list) or not isinstance(over.value, list):
            self._fault(
                over,
                f"`{name}{ADD}` adds to a list, but `{name}` is not a list at {under.at}: write "
                f"`{name}`",
            )
            return under
        if any(identity_of(item) for item in under.value):
            return self.node(under, over)
        return Node(joined(under.value, over.value), under.at, under.key)

    def _mappings(
        self, under: Node, over: Node, below: dict[str, Node], above: dict[str, Node]
    ) -> Node:
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
            **{key: node.at if node.key is None else node.key for key, node in above.items()},
        }
        return Node(
            merged,
            at,
            key_at,
            "",
            tuple([(key, place) for key, place in changed.items() if key not in NAMING]),
        )

    def _entries(self, below: list[Node], above: list[Node]) -> list[Node]:
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

    def _same(self, below: list[Node], item: Node) -> int | None:
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
            from stanchion.policy.nearest import hint

            what = f"there is no entry {shown(identity)} to change"
            self._fault(item, f"{what}: {hint(identity, known)} A new entry needs a `use`.")
            return -1
        return None

    def _entry(self, under: Node, over: Node) -> Node:
        use, was = _word(over, "use"), self._owner
        self._owner = _word(under, "use")
        try:
            return over if use and use != self._owner else self.node(under, over)
        finally:
            self._owner = was

    def _fault(self, node: Node, message: str) -> None:
        self.faults.append(Fault(str(node.at), message))


def _word(node: Node, key: str) -> str:
    child = node.value.get(key) if isinstance(node.value, dict) else None
    return child.value if child is not None and isinstance(child.value, str) else ""


def _inside(node: Node) -> tuple[str, ...]:
    """What a list or a mapping holds, by name."""
    if isinstance(node.value, dict):
        return tuple(node.value)
    items = node.value if isinstance(node.value, list) else []
    return tuple(
        [name for item in items if (name := identity_of(item) if identity_of(item) else item.text)]
    )


def identity_of(node: Node) -> str:
    """The id of an entry: its own, or the one that its `use` gives it."""
    own = _word(node, "id")
    return own if own else usual_id(_word(node, "use"))

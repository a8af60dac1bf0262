"""Merging what one document says into another.

- Mappings merge key by key: the keys below keep their order, new keys follow in the order of the overlay.
- `null` removes a key. Where there is nothing to remove, the null stays, so that a misspelt key is found.
- Lists whose entries have an `id` or a `use` merge entry by entry: the entries below keep their order, new ones follow
  in the order of the overlay. An entry is the same if its id is; without one its id is its `use` with hyphens; failing
  that it is the only entry with this `use`. An entry that has another `use` replaces the one of its id as a whole.
  An empty list removes all.
- Everything else is replaced.

Each value keeps its own place, so a mistake in an overlay is reported at the overlay's own line.
"""

from __future__ import annotations

from stanchion.policy.document import Node, Place, shown
from stanchion.policy.errors import Fault
from stanchion.policy.nearest import hint
from stanchion.policy.schema import usual_id


def merge(under: Node, over: Node, faults: list[Fault]) -> Node:
    """What lies under, changed by what lies over it; both are left as they were. Faults are added to the list."""
    return _Merging(faults).node(under, over)


class _Merging:
    """Merges nodes into new ones; what went in is left as it was."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = faults

    def node(self, under: Node, over: Node) -> Node:
        match under.value, over.value:
            case dict() as below, dict() as above:
                return self._mappings(under, over, below, above)
            case list() as below, list() as above if above and any(identity_of(item) for item in below):
                return Node(self._entries(below, above), over.at, over.key)
        return over

    def _mappings(self, under: Node, over: Node, below: dict[str, Node], above: dict[str, Node]) -> Node:
        merged = dict(below)
        removed = False
        for key, node in above.items():
            if key not in below:
                merged[key] = node
            elif node.value is None:
                del merged[key]
                removed = True
            else:
                merged[key] = self.node(below[key], node)
        # What is missing afterwards was removed by the overlay, or was missing below already.
        return Node(merged, over.at if removed else under.at, over.key if removed else under.key)

    def _entries(self, below: list[Node], above: list[Node]) -> list[Node]:
        merged = list(below)
        taken: dict[int, Place] = {}
        for item in above:
            at = self._same(below, item)
            if at is None:
                merged.append(item)
            elif at in taken:
                self._fault(item, f"{shown(identity_of(item))} is changed a second time: the first is at {taken[at]}")
            elif at >= 0:
                taken[at] = item.at
                merged[at] = self._entry(below[at], item)
        return merged

    def _same(self, below: list[Node], item: Node) -> int | None:
        """The number of the entry that an overlay's entry changes, `None` if it is a new one, -1 if it is at fault."""
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
            self._fault(item, f"{len(alike)} entries use `{use}`: give the `id` of the one you mean: {', '.join(ids)}")
            return -1
        if not use and any(_word(entry, "use") for entry in below):
            what = f"there is no entry {shown(identity)} to change"
            self._fault(item, f"{what}: {hint(identity, known)} A new entry needs a `use`.")
            return -1
        return None

    def _entry(self, under: Node, over: Node) -> Node:
        use = _word(over, "use")
        return over if use and use != _word(under, "use") else self.node(under, over)

    def _fault(self, node: Node, message: str) -> None:
        self.faults.append(Fault(str(node.at), message))


def _word(node: Node, key: str) -> str:
    child = node.value.get(key) if isinstance(node.value, dict) else None
    return child.value if child is not None and isinstance(child.value, str) else ""


def identity_of(node: Node) -> str:
    """The id of an entry: its own, or the one that its `use` gives it."""
    own = _word(node, "id")
    return own if own else usual_id(_word(node, "use"))

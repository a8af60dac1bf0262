"""Tightening: what of one document makes a policy stricter, taken over piece by piece, and what of
it is left out."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from stanchion.kernel.actions import PROCEEDS
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.document import Document, Node
from stanchion.policy.errors import Fault, PolicyError
from stanchion.policy.load import compile_document
from stanchion.policy.loosening import Loosening, loosenings
from stanchion.policy.merge import identity_of
from stanchion.policy.overlay import overlay

MOST: Final = 400
"""How many pieces a document is taken apart into."""

NEUTRAL: Final = frozenset({"name", "version"})
NAMING: Final = ("use", "id")
WORDS: Final = ("message", "advice")
"""Options of guards that agents read."""


def tightened(
    under: Document, over: Document, files: tuple[Path, ...]
) -> tuple[Document, tuple[Loosening, ...]]:
    """A document with everything of another that only tightens, and what was left out. No code is
    imported.

    Each piece is taken over alone: a table's entry, or a key of it; a guard under an id of its own,
    or an option of one that is there. A guard that would change one that is there for the worse
    stands beside it instead, behind all others.
    """
    taking = _Taking(under, files)
    said = _options(over.root)
    guards = _listed(over)
    # Guards first: what a table says needs a guard that reads it.
    for entry in guards:
        taking.guard(entry)
    for key, node in said.items():
        if key not in NEUTRAL and not (key == "guards" and guards):
            taking.part((key,), node)
    return taking.document, tuple(dict.fromkeys(taking.left_out))


class _Taking:
    """A document that takes pieces over, as long as none of them loosens it."""

    def __init__(self, document: Document, files: tuple[Path, ...]) -> None:
        self.document = document
        self.left_out: list[Loosening] = []
        self._files = files
        self._policy = self._compiled(document)
        self._pieces = 0

    def part(self, path: tuple[str, ...], node: Node) -> None:
        """Take over what a document says at a path: as a whole, or what of it can be."""
        against = self._take(_at(path, node))
        if not against:
            return
        if isinstance(node.value, dict) and node.value and len(path) < 3:
            for key, child in node.value.items():
                self.part((*path, key), child)
        else:
            self.left_out += against

    def guard(self, entry: Node) -> None:
        """Take a guard over.

        1. As it stands, where that loosens nothing.
        2. Behind all others, and beside the one that it would change: what it refuses there is
           refused besides.
        3. Option by option, where it changes one that is there and cannot stand beside it.
        """
        against = self._take(_guards(entry))
        if not against:
            return
        changes = self._changes(entry)
        if self._beside(entry, changes):
            self.left_out += against if changes else ()
            return
        naming = {key: node for key, node in _options(entry).items() if key in NAMING}
        options = {key: node for key, node in _options(entry).items() if key not in NAMING}
        if not changes or len(options) < 2:
            self.left_out += against
            return
        for key, node in options.items():
            self.left_out += self._take(_guards(Node({**naming, key: node}, entry.at, entry.key)))

    def _beside(self, entry: Node, changes: bool) -> bool:
        """Take an entry over as a guard of its own; says whether it can be, and refuses something
        there."""
        if "use" not in _options(entry):
            return False
        before, apart = (self.document, self._policy), self._apart(entry, changes)
        if self._take(_guards(apart)):
            return False
        placed = self._policy.placed(identity_of(apart))
        if placed is None or placed.shadow or max(placed.guard.actions()) <= PROCEEDS:
            self.document, self._policy = before
            return False
        return True

    def _apart(self, entry: Node, changes: bool) -> Node:
        """An entry as a guard of its own that is asked last."""
        behind = max([seat.placed.priority for seat in self._policy.seats], default=0) + 1
        apart = _with(entry, "priority", behind)
        if not changes:
            return apart
        taken = {seat.placed.id for seat in self._policy.seats} | {
            identity_of(known) for known in _listed(self.document)
        }
        numbered = (f"{identity_of(entry)}-found-{number}" for number in range(1, len(taken) + 2))
        return _with(apart, "id", next(name for name in numbered if name not in taken))

    def _take(self, piece: Node) -> tuple[Loosening, ...]:
        """Take a piece over; gives what stands against it, and takes nothing where there is
        something."""
        self._pieces += 1
        if self._pieces > MOST:
            message = (
                f"more than {MOST} pieces of it would have to be looked at: have an operator trust "
                f"it, or split it"
            )
            raise PolicyError([Fault(str(piece.at), message)])
        merged = overlay(self.document, Document(piece.at.file, piece))
        try:
            if merged.faults:
                raise PolicyError(list(merged.faults))
            policy = self._compiled(merged)
        except PolicyError as error:
            # The whole is right, so this needs something that was left out.
            return (Loosening("policy", f"{error.faults[0].message} ({error.faults[0].place})"),)
        against = loosenings(self._policy, policy)
        if not against:
            self.document, self._policy = merged, policy
        return against

    def _compiled(self, document: Document) -> CompiledPolicy:
        return compile_document(document, self._files, imports=False)

    def _changes(self, entry: Node) -> bool:
        """Whether an entry speaks of a guard that is there."""
        merged = overlay(self.document, Document(entry.at.file, _guards(entry)))
        return len(_listed(merged)) == len(_listed(self.document))


def without_words(document: Document) -> tuple[Document, tuple[Loosening, ...]]:
    """A document without what its guards would have agents read, and what that was: words of a
    stranger in the shield's voice are a way to command an agent."""
    kept: list[Node] = []
    left_out: list[Loosening] = []
    for entry in _listed(document):
        said = [key for key in WORDS if key in _options(entry)]
        left_out += [
            Loosening(f"guard {identity_of(entry)}", f"{key} is for agents to read") for key in said
        ]
        options = {key: node for key, node in _options(entry).items() if key not in said}
        kept.append(Node(options, entry.at, entry.key) if said else entry)
    if not left_out:
        return document, ()
    root = {
        **_options(document.root),
        "guards": Node(kept, document.place("guards"), document.key_place("guards")),
    }
    changed = Node(root, document.root.at, document.root.key)
    return Document(document.origin, changed, document.faults), tuple(left_out)


def _at(path: tuple[str, ...], node: Node) -> Node:
    for key in reversed(path):
        node = Node({key: node}, node.at, node.key)
    return node


def _guards(entry: Node) -> Node:
    return Node({"guards": Node([entry], entry.at, entry.key)}, entry.at, entry.key)


def _options(entry: Node) -> dict[str, Node]:
    return entry.value if isinstance(entry.value, dict) else {}


def _with(entry: Node, key: str, value: str | int) -> Node:
    return Node(
        {**_options(entry), key: Node(value, entry.at, entry.key, str(value))}, entry.at, entry.key
    )


def _listed(document: Document) -> list[Node]:
    guards = document.node("guards").value
    return guards if isinstance(guards, list) else []

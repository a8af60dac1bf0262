"""Found policies: the user's own, and over it those of a project, of which only what tightens
counts without trust."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from stanchion.kernel.actions import PROCEEDS
from stanchion.policy.compile import compile_policy
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.document import Document, DocumentNode, in_order
from stanchion.policy.errors import PolicyError, refusal
from stanchion.policy.load import (
    PolicyReading,
    ReadPolicy,
    compile_document,
    policy_file,
    read_policy,
)
from stanchion.policy.loosening import Loosening, loosenings
from stanchion.policy.merge import identity_of
from stanchion.policy.overlay import environment, overlay
from stanchion.policy.project_policies import own_policy, project_policies, project_root

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
    said = over.root.fields
    guards = over.guards
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

    def part(self, path: tuple[str, ...], node: DocumentNode) -> None:
        """Take over what a document says at a path: as a whole, or what of it can be."""
        against = self._take(_at(path, node))
        if not against:
            return
        if isinstance(node.value, dict) and node.value and len(path) < 3:
            for key, child in node.value.items():
                self.part((*path, key), child)
        else:
            self.left_out += against

    def guard(self, entry: DocumentNode) -> None:
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
        naming = {key: node for key, node in entry.fields.items() if key in NAMING}
        options = {key: node for key, node in entry.fields.items() if key not in NAMING}
        if not changes or len(options) < 2:
            self.left_out += against
            return
        for key, node in options.items():
            self.left_out += self._take(_guards(entry.holding({**naming, key: node})))

    def _beside(self, entry: DocumentNode, changes: bool) -> bool:
        """Take an entry over as a guard of its own; says whether it can be, and refuses something
        there."""
        if "use" not in entry.fields:
            return False
        before, apart = (self.document, self._policy), self._apart(entry, changes)
        if self._take(_guards(apart)):
            return False
        placed = self._policy.placed(identity_of(apart))
        if placed is None or placed.shadow or max(placed.guard.actions()) <= PROCEEDS:
            self.document, self._policy = before
            return False
        return True

    def _apart(self, entry: DocumentNode, changes: bool) -> DocumentNode:
        """An entry as a guard of its own that is asked last."""
        behind = max([seat.placed.priority for seat in self._policy.seats], default=0) + 1
        apart = _with(entry, "priority", behind)
        if not changes:
            return apart
        taken = {seat.placed.id for seat in self._policy.seats} | {
            identity_of(known) for known in self.document.guards
        }
        numbered = (f"{identity_of(entry)}-found-{number}" for number in range(1, len(taken) + 2))
        return _with(apart, "id", next(name for name in numbered if name not in taken))

    def _take(self, piece: DocumentNode) -> tuple[Loosening, ...]:
        """Take a piece over; gives what stands against it, and takes nothing where there is
        something."""
        self._pieces += 1
        if self._pieces > MOST:
            message = (
                f"more than {MOST} pieces of it would have to be looked at: have an operator trust "
                f"it, or split it"
            )
            raise refusal(piece.at, message)
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

    def _changes(self, entry: DocumentNode) -> bool:
        """Whether an entry speaks of a guard that is there."""
        merged = overlay(self.document, Document(entry.at.file, _guards(entry)))
        return len(merged.guards) == len(self.document.guards)


def without_words(document: Document) -> tuple[Document, tuple[Loosening, ...]]:
    """A document without what its guards would have agents read, and what that was: words of a
    stranger in the shield's voice are a way to command an agent."""
    kept: list[DocumentNode] = []
    left_out: list[Loosening] = []
    for entry in document.guards:
        said = [key for key in WORDS if key in entry.fields]
        left_out += [
            Loosening(f"guard {identity_of(entry)}", f"{key} is for agents to read") for key in said
        ]
        options = {key: node for key, node in entry.fields.items() if key not in said}
        kept.append(entry.holding(options) if said else entry)
    if not left_out:
        return document, ()
    root = {
        **document.root.fields,
        "guards": DocumentNode(kept, document.place("guards"), document.key_place("guards")),
    }
    changed = DocumentNode(root, document.root.at, document.root.key)
    return Document(document.origin, changed, document.faults), tuple(left_out)


def _at(path: tuple[str, ...], node: DocumentNode) -> DocumentNode:
    for key in reversed(path):
        node = node.holding({key: node})
    return node


def _guards(entry: DocumentNode) -> DocumentNode:
    return DocumentNode({"guards": DocumentNode([entry], entry.at, entry.key)}, entry.at, entry.key)


def _with(entry: DocumentNode, key: str, value: str | int) -> DocumentNode:
    return DocumentNode(
        {**entry.fields, key: DocumentNode(value, entry.at, entry.key, str(value))},
        entry.at,
        entry.key,
    )


Trusts = Callable[[str, CompiledPolicy], bool]
"""Whether an operator trusts a policy, by its hash."""

PACK: Final = "default"
"""What stands below a project's policies where the user has none."""


class FoundFile(NamedTuple):
    """A policy of a project: its file, its own hash, whether it is trusted, and what of it was left
    out."""

    file: Path
    hash: str
    trusted: bool
    left_out: tuple[Loosening, ...] = ()


class FoundPolicy(NamedTuple):
    """What counts in a folder: a document with none of the code run that it names, and where it
    comes from."""

    seen: CompiledPolicy
    document: Document
    base: str
    files: tuple[FoundFile, ...]

    def policy(self) -> CompiledPolicy:
        """The policy to put in force; the code that it names is that of the user and of trusted
        files."""
        return compile_document(self.document, self.seen.files)


def nobody(_policy_hash: str, _policy: CompiledPolicy) -> bool:
    """Trusts nothing."""
    return False


def find_policy(
    folder: Path | None = None,
    env: str | None = None,
    trusts: Trusts = nobody,
    own: Path | None = None,
) -> FoundPolicy:
    """The user's own policy, or the pack `default`, with the policies of the project over it, the
    nearest last.

    One that is trusted applies whole. Of any other only what tightens takes effect, and none of its
    code is run. One that cannot be read or is wrong raises `PolicyError`: it may have been there to
    forbid something.
    """
    here = (Path.cwd() if folder is None else folder).resolve()
    mine = own_policy() if own is None else own
    base: str | Path = mine if mine.exists() or mine.is_symlink() else PACK
    read = read_policy(base)
    document, known = _variant(read, env)
    paths = list(read.files)
    seen = compile_document(document, tuple(paths), imports=False)
    files: list[FoundFile] = []
    for path in project_policies(here):
        over = read_policy(path, PolicyReading(project_root(here)))
        part, has = _variant(over, env)
        known = known or has
        paths += over.files
        alone = compile_policy(
            policy_file(part), part.where, over.files, whole=False, imports=False
        )
        trusted = trusts(alone.hash, alone)
        left_out: tuple[Loosening, ...] = ()
        if not trusted:
            part, left_out = without_words(part)
        # Laid over as it is it has to be right, whatever of it will count.
        whole = _laid(document, part, tuple(paths))
        if trusted or not loosenings(seen, whole.policy):
            document, seen = whole
        else:
            document, more = tightened(document, part, tuple(paths))
            left_out += more
            below, seen = seen, compile_document(document, tuple(paths), imports=False)
            if loosenings(below, seen):
                raise refusal(
                    path,
                    "it cannot be determined which parts of it tighten: have an operator trust it",
                )
        files.append(FoundFile(path, alone.hash, trusted, left_out))
    if env is not None and not known:
        raise PolicyError(list(environment(read.whole, env).faults))
    return FoundPolicy(
        seen, document, str(base) if isinstance(base, Path) else f"pack {base}", tuple(files)
    )


class _Laid(NamedTuple):
    document: Document
    policy: CompiledPolicy


def _laid(under: Document, over: Document, files: tuple[Path, ...]) -> _Laid:
    merged = overlay(under, over)
    if merged.faults:
        raise PolicyError(in_order(list(merged.faults)))
    return _Laid(merged, compile_document(merged, files, imports=False))


def _variant(read: ReadPolicy, env: str | None) -> tuple[Document, bool]:
    """A policy in an environment, and whether it has that; without it where it has not."""
    has = env in read.variants
    return read.variants[env if has else None], has

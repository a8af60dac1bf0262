"""Policies made of several: what a file `extends` and its `environments`, laid over one another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import msgspec

from stanchion.policy.document import Document, DocumentNode, UnreadableValue, shown
from stanchion.policy.errors import Fault, PolicyError, refusal
from stanchion.policy.merge import Replaced, identity_of, merge
from stanchion.policy.nearest import hint

EXTENDS: Final = "extends"
ENVIRONMENTS: Final = "environments"


def overlay(under: Document, over: Document) -> Document:
    """A document laid over another; the result has the faults of both."""
    faults: list[Fault] = []
    replaced: list[Replaced] = []
    root = merge(under.root, over.root, faults, replaced)
    told = dict.fromkeys([*under.replaced, *over.replaced, *replaced])
    faults += unsettled(under, Document(over.origin, root))
    return Document(
        over.origin,
        root,
        _once(under.faults, over.faults, tuple(faults)),
        tuple(told),
        _once(under.doubts, over.doubts),
    )


def extended(document: Document, find: Callable[[str, str], Document]) -> Document:
    """The document laid over what it `extends`: a name, or several of which later ones lie over
    earlier ones.

    `find` reads a name as written in the file of the given origin; it may raise `PolicyError`.
    """
    return _extended(document, find, (document.origin,))


def environment(document: Document, name: str | None) -> Document:
    """The document as it is in an environment, or without one; an unknown environment is a
    fault."""
    faults: list[Fault] = []
    known = _environments(document, faults)
    bare = _without(document, ENVIRONMENTS)
    bare = msgspec.structs.replace(bare, faults=_once(document.faults, tuple(faults)))
    if name is None:
        return bare
    if name not in known:
        advice = hint(name, known) if known else f"add it under `{ENVIRONMENTS}`"
        fault = Fault(
            str(document.key_place(ENVIRONMENTS)),
            f"there is no environment {shown(name)}: {advice}",
        )
        return msgspec.structs.replace(bare, faults=_once(bare.faults, (fault,)))
    merged = overlay(bare, Document(document.origin, known[name]))
    return msgspec.structs.replace(
        merged, root=msgspec.structs.replace(merged.root, at=document.root.at)
    )


def variants(document: Document) -> dict[str | None, Document]:
    """The document without an environment (under `None`) and in each that it has, so that all can
    be checked."""
    return {name: environment(document, name) for name in (None, *_environments(document, []))}


def _environments(document: Document, faults: list[Fault]) -> Mapping[str, DocumentNode]:
    node = document.root.fields.get(ENVIRONMENTS)
    if node is None or node.value is None or isinstance(node.value, UnreadableValue):
        return {}
    if not isinstance(node.value, dict):
        said = f"`{ENVIRONMENTS}` is not a mapping: write each as `name:` with its changes"
        faults.append(Fault(str(node.at), said))
    found = {}
    for name, changes in node.fields.items():
        mapping = isinstance(changes.value, dict)
        found[name] = _drop(changes, EXTENDS, ENVIRONMENTS) if mapping else changes.holding({})
        for word in {EXTENDS, ENVIRONMENTS} & changes.fields.keys():
            said = f"`{word}` has no place in an environment: move it to the top"
            faults.append(Fault(str(changes.fields[word].key), said))
        if not mapping and not isinstance(changes.value, UnreadableValue | None):
            said = f"the environment {shown(name)} is not a mapping: write its changes"
            faults.append(Fault(str(changes.at), said))
    return found


def _extended(
    document: Document, find: Callable[[str, str], Document], chain: tuple[str, ...]
) -> Document:
    said = document.root.fields.get(EXTENDS)
    own = _without(document, EXTENDS)
    if said is None or isinstance(said.value, UnreadableValue):
        return own
    faults: list[Fault] = []
    result: Document | None = None
    for node in said.items if isinstance(said.value, list) else [said]:
        try:
            found = _found(document, node, find, chain)
        except PolicyError as error:
            faults += error.faults
            continue
        result = found if result is None else overlay(result, found)
    merged = own if result is None else overlay(result, own)
    return msgspec.structs.replace(merged, faults=_once(tuple(faults), merged.faults))


def _found(
    document: Document,
    node: DocumentNode,
    find: Callable[[str, str], Document],
    chain: tuple[str, ...],
) -> Document:
    if not isinstance(node.value, str):
        wrong = "a list" if isinstance(node.value, list) else shown(node.text)
        wrong = "a mapping" if isinstance(node.value, dict) else wrong
        raise refusal(
            node.at,
            f"{wrong} was found where the name of a policy is expected: name a pack or a file",
        )
    try:
        found = find(node.value, document.origin)
    except PolicyError as error:
        if any(fault.place != node.value for fault in error.faults):
            raise  # it was found, and says itself where it is wrong
        why = error.faults[0].message
        raise refusal(node.at, f"{shown(node.value)} cannot be extended: {why}") from None
    if found.origin in chain:
        loop = " → ".join([*chain[chain.index(found.origin) :], found.origin])
        raise refusal(
            node.at, f"{shown(node.value)} extends itself ({loop}): leave one of them out"
        )
    _says_something(found)
    return _extended(found, find, (*chain, found.origin))


def _says_something(found: Document) -> None:
    """Refuse to extend a file that is empty, cut off, or no policy: whoever extends it would be
    without its guards."""
    root = found.root
    if isinstance(root.value, UnreadableValue) or (isinstance(root.value, dict) and root.value):
        return
    if isinstance(root.value, dict) or root.value is None:
        wrong = "there is nothing in it"
    else:
        wrong = "a list" if isinstance(root.value, list) else shown(root.text)
        wrong += " was found where a policy is expected"
    raise refusal(root.at, f"{wrong}: write a policy, or extend another file")


def _once(*faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
    return tuple(dict.fromkeys(fault for some in faults for fault in some))


def _without(document: Document, key: str) -> Document:
    return msgspec.structs.replace(document, root=_drop(document.root, key))


def _drop(node: DocumentNode, *keys: str) -> DocumentNode:
    if not isinstance(node.value, dict) or not node.value.keys() & {*keys}:
        return node
    return DocumentNode(
        {name: child for name, child in node.value.items() if name not in keys}, node.at, node.key
    )


def unsettled(under: Document, merged: Document) -> Iterator[Fault]:
    """Faults of an overlay that changes, or takes away, what is always active in what it lies
    over."""
    after = {identity_of(node): node for node in merged.guards}
    for node in under.guards:
        always, now = node.fields.get("always"), after.get(identity_of(node))
        if always is None or always.value is not True:
            continue
        said, was = f"`{identity_of(node)}` is always active and cannot be", node.data()
        if now is None:
            place = merged.key_place("guards")
            yield Fault(str(place), f"{said} removed: leave it in its place")
        elif now.data() != node.data():
            odd = [one for key, one in now.fields.items() if one.data() != was.get(key)]
            at = odd[0].named_at if odd else now.at
            yield Fault(str(at), f"{said} changed: leave the entry out")

"""Policies made of several: what a file `extends` and its `environments`, laid over one another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from stanchion.policy.document import Document, Node, Unreadable, shown
from stanchion.policy.errors import Fault, PolicyError
from stanchion.policy.lists import Replaced
from stanchion.policy.merge import merge

EXTENDS: Final = "extends"
ENVIRONMENTS: Final = "environments"


def overlay(under: Document, over: Document) -> Document:
    """A document laid over another; the result has the faults of both."""
    faults: list[Fault] = []
    replaced: list[Replaced] = []
    root = merge(under.root, over.root, faults, replaced)
    told = dict.fromkeys([*under.replaced, *over.replaced, *replaced])
    from stanchion.policy.standing import unsettled

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
        from stanchion.policy.nearest import hint

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


def _environments(document: Document, faults: list[Fault]) -> Mapping[str, Node]:
    root = document.root.value
    node = root.get(ENVIRONMENTS) if isinstance(root, dict) else None
    if node is None or node.value is None or isinstance(node.value, Unreadable):
        return {}
    if not isinstance(node.value, dict):
        faults.append(
            Fault(
                str(node.at),
                f"`{ENVIRONMENTS}` is not a mapping: write each as `name:` with its changes",
            )
        )
        return {}
    found = {}
    for name, changes in node.value.items():
        found[name] = (
            changes if isinstance(changes.value, dict) else Node({}, changes.at, changes.key)
        )
        if isinstance(changes.value, dict):
            for word in {EXTENDS, ENVIRONMENTS} & changes.value.keys():
                at = changes.value[word].key
                faults.append(
                    Fault(str(at), f"`{word}` has no place in an environment: move it to the top")
                )
            found[name] = _drop(changes, EXTENDS, ENVIRONMENTS)
        elif not isinstance(changes.value, Unreadable | None):
            faults.append(
                Fault(
                    str(changes.at),
                    f"the environment {shown(name)} is not a mapping: write its changes",
                )
            )
    return found


def _extended(
    document: Document, find: Callable[[str, str], Document], chain: tuple[str, ...]
) -> Document:
    root = document.root.value
    said = root.get(EXTENDS) if isinstance(root, dict) else None
    own = _without(document, EXTENDS)
    if said is None or isinstance(said.value, Unreadable):
        return own
    faults: list[Fault] = []
    result: Document | None = None
    for node in said.value if isinstance(said.value, list) else [said]:
        try:
            found = _found(document, node, find, chain)
        except PolicyError as error:
            faults += error.faults
            continue
        result = found if result is None else overlay(result, found)
    merged = own if result is None else overlay(result, own)
    return msgspec.structs.replace(merged, faults=_once(tuple(faults), merged.faults))


def _found(
    document: Document, node: Node, find: Callable[[str, str], Document], chain: tuple[str, ...]
) -> Document:
    if not isinstance(node.value, str):
        wrong = "a list" if isinstance(node.value, list) else shown(node.text)
        wrong = "a mapping" if isinstance(node.value, dict) else wrong
        raise PolicyError(
            [
                Fault(
                    str(node.at),
                    f"{wrong} was found where the name of a policy is expected: name a pack or a "
                    f"file",
                )
            ]
        )
    try:
        found = find(node.value, document.origin)
    except PolicyError as error:
        if any(fault.place != node.value for fault in error.faults):
            raise  # it was found, and says itself where it is wrong
        why = error.faults[0].message
        raise PolicyError(
            [Fault(str(node.at), f"{shown(node.value)} cannot be extended: {why}")]
        ) from None
    if found.origin in chain:
        loop = " → ".join([*chain[chain.index(found.origin) :], found.origin])
        raise PolicyError(
            [
                Fault(
                    str(node.at),
                    f"{shown(node.value)} extends itself ({loop}): leave one of them out",
                )
            ]
        )
    _says_something(found)
    return _extended(found, find, (*chain, found.origin))


def _says_something(found: Document) -> None:
    """Refuse to extend a file that is empty, cut off, or no policy: whoever extends it would be
    without its guards."""
    root = found.root
    if isinstance(root.value, Unreadable) or (isinstance(root.value, dict) and root.value):
        return
    if isinstance(root.value, dict) or root.value is None:
        wrong = "there is nothing in it"
    else:
        wrong = "a list" if isinstance(root.value, list) else shown(root.text)
        wrong += " was found where a policy is expected"
    raise PolicyError([Fault(str(root.at), f"{wrong}: write a policy, or extend another file")])


def _once(*faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
    return tuple(dict.fromkeys(fault for some in faults for fault in some))


def _without(document: Document, key: str) -> Document:
    return msgspec.structs.replace(document, root=_drop(document.root, key))


def _drop(node: Node, *keys: str) -> Node:
    if not isinstance(node.value, dict) or not node.value.keys() & {*keys}:
        return node
    return Node(
        {name: child for name, child in node.value.items() if name not in keys}, node.at, node.key
    )

"""Translating guardrail files, one or a folder of them, into one policy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

import msgspec

from stanchion.policy.document import Document, Node, in_order, shown
from stanchion.policy.errors import Fault, PolicyError
from stanchion.policy.formats.agent33.checks import BUILT_IN, CHECKS, NAME_OF
from stanchion.policy.formats.agent33.definitions import Definition, read, standard
from stanchion.policy.formats.agent33.entries import STAGES, entries
from stanchion.policy.formats.agent33.levels import Levels, read_levels
from stanchion.policy.formats.agent33.schema import ACTIONS, CATEGORIES
from stanchion.policy.formats.nodes import node
from stanchion.policy.nearest import hint


def translate(documents: tuple[Document, ...], origin: str) -> Document:
    """The policy that guardrail files make together; `PolicyError` has everything that is wrong
    with them."""
    faults = [fault for document in documents for fault in document.faults]
    known: dict[str, Definition] = {}
    for document in documents:
        for guardrail in read(document, faults.append):
            first = known.setdefault(guardrail.id, guardrail)
            if first is not guardrail:
                again = guardrail.places["id"].at
                faults.append(
                    Fault(
                        str(again),
                        f"`{guardrail.id}` is defined a second time: the first is at "
                        f"{first.node.at}",
                    )
                )
    levels = read_levels(documents, faults.append) if not faults else Levels()
    root = documents[0].root
    known |= {
        guardrail: standard(guardrail, root) for guardrail in BUILT_IN if guardrail not in known
    }
    if not faults:
        for document in documents:
            _chains(document, known, faults)
        faults += [fault for guardrail in known.values() for fault in _undecided(guardrail, levels)]
    if faults:
        raise PolicyError(in_order(faults))
    said = {"name": PurePath(origin).stem, "durations": True, "limits": {"count_marks": True}}
    made = node(said, root.at).value
    assert isinstance(made, dict)
    guards = [
        entry
        for guardrail in sorted(known.values(), key=_order)
        for entry in entries(guardrail, levels.defaults)
    ]
    made["guards"] = Node(guards, root.at, root.at)
    if levels.entries is not None:
        made["risk"] = levels.entries
    return Document(
        origin,
        Node(made, root.at),
        doubts=tuple(doubt for each in documents for doubt in each.doubts),
    )


def _undecided(guardrail: Definition, levels: Levels) -> Iterator[Fault]:
    """What is wrong with a guardrail that does not say what follows where it fails."""
    if guardrail.action:
        return
    place = str(guardrail.node.at)
    if levels.entries is None:
        message = f"`{guardrail.id}` has no `action_on_fail`: write one of `{'`, `'.join(ACTIONS)}`"
        yield Fault(place, f"{message}, or give risk levels a default with `risk_integration`")
    elif guardrail.check and not CHECKS[guardrail.check].logs and "log" in levels.defaults.values():
        level = next(level for level, action in levels.defaults.items() if action == "log")
        message = f"`{guardrail.check}` cannot only log, which is the default at `{level}`"
        yield Fault(place, f"{message}: give `{guardrail.id}` an `action_on_fail`")


def _order(guardrail: Definition) -> tuple[int, int, str]:
    return guardrail.priority, CATEGORIES.index(guardrail.category), guardrail.id


def _chains(document: Document, known: dict[str, Definition], faults: list[Fault]) -> None:
    """Attach the guardrails of a file's chains to their hooks; each stays at the hook that it has
    itself."""
    root = document.root.value
    for hook in STAGES:
        chain = root.get(f"{hook}_chain") if isinstance(root, dict) else None
        before: Definition | None = None
        for link in chain.value if chain is not None and isinstance(chain.value, list) else ():
            named = link.value["guardrail"] if isinstance(link.value, dict) else link
            guardrail = _linked(named, hook, known)
            if isinstance(guardrail, str):
                faults.append(Fault(str(named.at), guardrail))
                continue
            known[guardrail.id] = guardrail
            if before is not None and _order(guardrail)[:2] < _order(before)[:2]:
                said = (
                    f"`{guardrail.id}` has the priority {guardrail.priority} and runs before "
                    f"`{before.id}`"
                )
                faults.append(
                    Fault(
                        str(named.at),
                        f"{said}, which has {before.priority}: list it before that one",
                    )
                )
            before = guardrail


def _linked(named: Node, hook: str, known: dict[str, Definition]) -> Definition | str:
    """A guardrail that a chain names, attached to the chain's hook; or why it cannot be."""
    name = str(named.value)
    if name not in known and name not in NAME_OF:
        return f"there is no guardrail {shown(name)}: {hint(name, {*known, *NAME_OF})}"
    guardrail = known[name] if name in known else standard(name, named)
    if hook in guardrail.hooks:
        return guardrail
    if guardrail.check and hook not in CHECKS[guardrail.check].hooks:
        return (
            f"`{name}` cannot be checked at `{hook}`: {hint(hook, CHECKS[guardrail.check].hooks)}"
        )
    return msgspec.structs.replace(guardrail, hooks=(*guardrail.hooks, hook))

"""Translating guardrail files, one or a folder of them, into one policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Final

import msgspec

from stanchion.kernel.actions import RISK_NAMES
from stanchion.policy.document import Document, Location, Node, in_order, shown
from stanchion.policy.errors import Fault, PolicyError
from stanchion.policy.formats.agent33.checks import BUILT_IN, CHECKS, NAME_OF
from stanchion.policy.formats.agent33.definitions import Definition, read, standard
from stanchion.policy.formats.agent33.entries import STAGES, entries
from stanchion.policy.formats.agent33.schema import ACTIONS, CATEGORIES
from stanchion.policy.formats.nodes import node
from stanchion.policy.nearest import hint

# Risk levels of a guardrail file: which guardrails are active at each, and what follows where one
# says nothing.

STRICTEST: Final = "strictest thresholds"
PERSON: Final = "human approval required for any action"
WHOLE: Final = {"all guardrails": "*", "all builtin": "builtin-*"}
"""Sentences that stand for many guardrails, and the globs that they are."""
PATH: Final = ("risk_integration", "risk_level_mapping")


class Levels(msgspec.Struct, frozen=True):
    """The risk levels of guardrail files: `entries` as a policy has them, and the default action of
    each level."""

    entries: Node | None = None
    defaults: dict[str, str] = {}


def read_levels(documents: tuple[Document, ...], fault: Callable[[Fault], None]) -> Levels:
    """The risk levels that files give together; what is wrong with them is told to `fault`."""
    having = [document for document in documents if _mapping(document) is not None]
    for document in having[1:]:
        place = document.key_place(PATH[0])
        fault(
            Fault(
                str(place),
                f"risk levels are mapped a second time: the first is at "
                f"{having[0].key_place(PATH[0])}",
            )
        )
    found = _mapping(having[0]) if having else None
    if found is None:
        return Levels()
    entries: dict[str, Node] = {}
    defaults: dict[str, str] = {}
    for level in RISK_NAMES:
        said = found.value.get(level) if isinstance(found.value, dict) else None
        if said is not None:
            entries[level] = _entry(said, fault)
            defaults[level] = _default(said, fault)
    return Levels(Node(entries, found.at, found.key), defaults)


def _mapping(document: Document) -> Node | None:
    node: Node | None = document.root
    for key in PATH:
        node = node.value.get(key) if node is not None and isinstance(node.value, dict) else None
    return node


def _entry(said: Node, fault: Callable[[Fault], None]) -> Node:
    """A level as a policy has it."""
    fields = said.value if isinstance(said.value, dict) else {}
    listed = fields["active_guardrails"]
    active: list[Node] = []
    made: dict[str, Node] = {}
    for item in listed.value if isinstance(listed.value, list) else ():
        text = " ".join(str(item.value).split())
        if text.casefold() == STRICTEST:
            made["strict_marks"] = _true(item.at)
            continue
        active += [_name(term.strip(), item, fault) for term in text.split("+")]
    made["active"] = Node(active, listed.at, listed.key)
    further = fields.get("additional")
    if further is not None:
        if " ".join(str(further.value).split()).casefold() != PERSON:
            fault(
                Fault(
                    str(further.at),
                    f"{shown(str(further.value))} is not known here: write `{PERSON}`",
                )
            )
        made["approval"] = _true(further.at)
    return Node(made, said.at, said.key)


def _name(term: str, item: Node, fault: Callable[[Fault], None]) -> Node:
    """An id, a glob of ids, or a sentence for many."""
    text = WHOLE.get(term.casefold(), term)
    if not text or " " in text:
        known = f"an id, a glob such as `safety-*`, `{'`, `'.join(WHOLE)}` or `{STRICTEST}`"
        fault(
            Fault(str(item.at), f"{shown(str(item.value))} does not name guardrails: write {known}")
        )
    return Node(text, item.at, None, text)


def _default(said: Node, fault: Callable[[Fault], None]) -> str:
    node = said.value["action_on_fail_default"] if isinstance(said.value, dict) else said
    if node.value not in ACTIONS:
        text = str(node.value)
        fault(
            Fault(
                str(node.at),
                f"{shown(text)} is not a value of `action_on_fail_default`: {hint(text, ACTIONS)}",
            )
        )
        return ACTIONS[0]
    return str(node.value)


def _true(at: Location) -> Node:
    return Node(True, at, at, "true")


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

"""Risk levels of a guardrail file: which guardrails are active at each, and what follows where one
says nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from stanchion.kernel.actions import RISK_NAMES
from stanchion.policy.document import Document, Location, Node, shown
from stanchion.policy.errors import Fault
from stanchion.policy.formats.agent33.schema import ACTIONS
from stanchion.policy.nearest import hint

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

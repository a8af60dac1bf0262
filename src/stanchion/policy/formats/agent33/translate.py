"""Translating guardrail files, one or a folder of them, into one policy: each guardrail becomes the
guards that do what it says, and risk levels those of the policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Any, Final

import msgspec

from stanchion.kernel.actions import RISK_NAMES
from stanchion.policy.document import Document, DocumentNode, Location, in_order, node, shown
from stanchion.policy.errors import Fault, PolicyError
from stanchion.policy.formats.agent33.checks import BUILT_IN, CHECKS, HOOKS, NAME_OF
from stanchion.policy.formats.agent33.definitions import (
    NAMED_ACTIONS,
    GuardrailDefinition,
    read,
    standard,
)
from stanchion.policy.formats.agent33.schema import ACTIONS, CATEGORIES
from stanchion.policy.nearest import hint
from stanchion.policy.schema import GUARDS

STAGES: Final = {
    "pre_execution": "tool_call",
    "post_execution": "tool_result",
    "pre_handoff": "handoff",
    "post_handoff": "handoff_done",
    "on_error": "error",
}
"""Where each hook is."""

OWN_WORDS: Final = ("empty", "tests", "lint", "review", "branch", "docs")
"""What guards call their action that have several."""


def entries(guardrail: GuardrailDefinition, defaults: dict[str, str]) -> Iterator[DocumentNode]:
    """The entries of a guardrail: the first has its id, and the others are parts of it. One that
    says no action has those of each risk level, by `defaults`; only one of them is active in a
    run."""
    for at, (action, risks) in enumerate(actions_of(guardrail, defaults).items()):
        named = guardrail.id if at == 0 else f"{guardrail.id}-{action}"
        for node_ in _with_action(guardrail, NAMED_ACTIONS.get(action, action), named):
            yield node_ if risks is None else _at_levels(node_, risks)


def usual_action(guardrail: GuardrailDefinition) -> str:
    """What follows in a run without a risk level, where a guardrail does not say it."""
    return CHECKS[guardrail.check].action if guardrail.check else "block"


def actions_of(
    guardrail: GuardrailDefinition, defaults: dict[str, str]
) -> dict[str, list[str] | None]:
    """What follows where a guardrail fails, and at which levels; `None` for all of them."""
    if guardrail.action:
        return {guardrail.action: None}
    usual = usual_action(guardrail)
    found: dict[str, list[str] | None] = {}
    levels: dict[str, list[str]] = {usual: ["none"]}
    for level in RISK_NAMES:
        levels.setdefault(defaults.get(level, usual), []).append(level)
    found |= levels
    return found if len(found) > 1 else {usual: None}


def _with_action(guardrail: GuardrailDefinition, action: str, named: str) -> Iterator[DocumentNode]:
    """The entries of a guardrail for one action, of which the first is called `named`."""
    whole = {} if named == guardrail.id else {"part_of": guardrail.id}
    if not guardrail.check:
        yield _entry(guardrail, "rule", named, _rule(guardrail, action) | whole)
        return
    check = CHECKS[guardrail.check]
    for at, part in enumerate(check.parts):
        options = part.options(action, guardrail.marks) | whole
        stages = stages_of(guardrail)
        options |= {} if stages is None else {"stages": stages}
        options |= {} if at == 0 else {"part_of": guardrail.id}
        if whole and "counter" in GUARDS[part.use].__struct_fields__:
            # Runs of one task count together, whatever their levels are.
            options["counter"] = (
                guardrail.id if at == 0 else f"{guardrail.id}-{part.use.replace('_', '-')}"
            )
        yield _entry(
            guardrail,
            part.use,
            named if at == 0 else f"{named}-{part.use.replace('_', '-')}",
            options,
        )


def _at_levels(entry: DocumentNode, risks: list[str]) -> DocumentNode:
    """An entry for runs at these levels alone."""
    scope = entry.fields.get("applies_to", DocumentNode({}, entry.at, entry.at))
    who = scope.holding({**scope.fields, "risks": node(risks, scope.at)})
    return entry.holding({**entry.fields, "applies_to": who})


def stages_of(guardrail: GuardrailDefinition) -> list[str] | None:
    """The stages at which a named check stands for its hooks; `None` for those of its guards."""
    by_hook = CHECKS[guardrail.check].hooks
    found = [by_hook[hook] for hook in guardrail.hooks]
    known = [stage for stages in found if stages is not None for stage in stages]
    return None if None in found else list(dict.fromkeys(known))


def _rule(guardrail: GuardrailDefinition, action: str) -> dict[str, Any]:
    words = {"message": guardrail.description} if guardrail.description else {}
    stages = [STAGES[hook] for hook in guardrail.hooks]
    return {
        "when": guardrail.when,
        "check": guardrail.expression,
        "action": action,
        "stages": stages,
        **words,
    }


def _entry(
    guardrail: GuardrailDefinition, use: str, named: str, options: dict[str, Any]
) -> DocumentNode:
    """An entry whose every value stands where the file says it."""
    places = guardrail.places
    at = guardrail.node.at
    said: dict[str, Any] = {
        "use": use, "id": named, "priority": guardrail.priority, "category": guardrail.category,
        **options,
    }  # fmt: skip
    if guardrail.built_in:
        said["always"] = True
    where = {"stages": "type", "danger": "action", **dict.fromkeys(OWN_WORDS, "action")}
    made = {key: node(value, _at(places, where.get(key, key), at)) for key, value in said.items()}
    scope = _scope(places["applies_to"]) if "applies_to" in places else None
    if scope is not None:
        made["applies_to"] = scope
    for key in ("enabled", "bypass"):
        if key in places and _is_own(places[key], guardrail.node):
            made[key] = places[key]
    return DocumentNode(made, at, guardrail.node.key)


def _at(places: dict[str, DocumentNode], key: str, usual: Location) -> Location:
    return places[key].at if key in places else usual


def _is_own(found: DocumentNode, guardrail: DocumentNode) -> bool:
    """Whether a node was found under its key, and not in the place of one that is missing."""
    return found is not guardrail


def _scope(found: DocumentNode) -> DocumentNode | None:
    """Whom a guardrail concerns, without what is for everybody."""
    if not isinstance(found.value, dict) or not found.value.keys() <= {"agents", "tasks", "tools"}:
        return None
    kept = {
        key: _listed(child) for key, child in found.value.items() if child.value not in ("*", None)
    }
    return found.holding(kept) if kept else None


def _listed(child: DocumentNode) -> DocumentNode:
    return child.holding([child]) if isinstance(child.value, str) else child


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

    entries: DocumentNode | None = None
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
    entries: dict[str, DocumentNode] = {}
    defaults: dict[str, str] = {}
    for level in RISK_NAMES:
        said = found.fields.get(level)
        if said is not None:
            entries[level] = _level(said, fault)
            defaults[level] = _default(said, fault)
    return Levels(found.holding(entries), defaults)


def _mapping(document: Document) -> DocumentNode | None:
    node: DocumentNode | None = document.root
    for key in PATH:
        node = None if node is None else node.fields.get(key)
    return node


def _level(said: DocumentNode, fault: Callable[[Fault], None]) -> DocumentNode:
    """A level as a policy has it."""
    fields = said.fields
    listed = fields["active_guardrails"]
    active: list[DocumentNode] = []
    made: dict[str, DocumentNode] = {}
    for item in listed.items:
        text = " ".join(str(item.value).split())
        if text.casefold() == STRICTEST:
            made["strict_marks"] = _true(item.at)
            continue
        active += [_name(term.strip(), item, fault) for term in text.split("+")]
    made["active"] = listed.holding(active)
    further = fields.get("additional")
    if further is not None:
        if " ".join(str(further.value).split()).casefold() != PERSON:
            said_ = f"{shown(str(further.value))} is not known here: write `{PERSON}`"
            fault(Fault(str(further.at), said_))
        made["approval"] = _true(further.at)
    return said.holding(made)


def _name(term: str, item: DocumentNode, fault: Callable[[Fault], None]) -> DocumentNode:
    """An id, a glob of ids, or a sentence for many."""
    text = WHOLE.get(term.casefold(), term)
    if not text or " " in text:
        known = f"an id, a glob such as `safety-*`, `{'`, `'.join(WHOLE)}` or `{STRICTEST}`"
        fault(
            Fault(str(item.at), f"{shown(str(item.value))} does not name guardrails: write {known}")
        )
    return DocumentNode(text, item.at, None, text)


def _default(said: DocumentNode, fault: Callable[[Fault], None]) -> str:
    node = said.fields["action_on_fail_default"]
    text = str(node.value)
    if node.value not in ACTIONS:
        wrong = f"{shown(text)} is not a value of `action_on_fail_default`"
        fault(Fault(str(node.at), f"{wrong}: {hint(text, ACTIONS)}"))
        return ACTIONS[0]
    return text


def _true(at: Location) -> DocumentNode:
    return DocumentNode(True, at, at, "true")


def translate(documents: tuple[Document, ...], origin: str) -> Document:
    """The policy that guardrail files make together; `PolicyError` has everything that is wrong
    with them."""
    faults = [fault for document in documents for fault in document.faults]
    known: dict[str, GuardrailDefinition] = {}
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
    said = {
        "name": PurePath(origin).stem,
        "durations": True,
        "limits": {"count_marks": True},
        "autonomy": True,
    }
    made = node(said, root.at).value
    assert isinstance(made, dict)
    guards = [
        entry
        for guardrail in sorted(known.values(), key=_order)
        for entry in entries(guardrail, levels.defaults)
    ]
    guards += [node(hook, root.at) for hook in HOOKS]
    made["guards"] = DocumentNode(guards, root.at, root.at)
    if levels.entries is not None:
        made["risk"] = levels.entries
    return Document(
        origin,
        DocumentNode(made, root.at),
        doubts=tuple(doubt for each in documents for doubt in each.doubts),
    )


def _undecided(guardrail: GuardrailDefinition, levels: Levels) -> Iterator[Fault]:
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


def _order(guardrail: GuardrailDefinition) -> tuple[int, int, str]:
    return guardrail.priority, CATEGORIES.index(guardrail.category), guardrail.id


def _chains(document: Document, known: dict[str, GuardrailDefinition], faults: list[Fault]) -> None:
    """Attach the guardrails of a file's chains to their hooks; each stays at the hook that it has
    itself."""
    for hook in STAGES:
        chain = document.root.fields.get(f"{hook}_chain")
        before: GuardrailDefinition | None = None
        for link in () if chain is None else chain.items:
            named = link.fields["guardrail"]
            guardrail = _linked(named, hook, known)
            if isinstance(guardrail, str):
                faults.append(Fault(str(named.at), guardrail))
                continue
            known[guardrail.id] = guardrail
            if before is not None and _order(guardrail)[:2] < _order(before)[:2]:
                said = f"`{guardrail.id}` has the priority {guardrail.priority} and runs before"
                said = f"{said} `{before.id}`, which has {before.priority}"
                faults.append(Fault(str(named.at), f"{said}: list it before that one"))
            before = guardrail


def _linked(
    named: DocumentNode, hook: str, known: dict[str, GuardrailDefinition]
) -> GuardrailDefinition | str:
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

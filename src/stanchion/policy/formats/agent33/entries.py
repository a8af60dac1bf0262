"""Entries: a guardrail as the guards of a policy that do what it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from stanchion.policy.document import Location, Node
from stanchion.policy.formats.agent33.checks import CHECKS
from stanchion.policy.formats.agent33.definitions import NAMED_ACTIONS, Definition
from stanchion.policy.formats.nodes import node

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


def entries(guardrail: Definition) -> Iterator[Node]:
    """The entries of a guardrail: the first has its id, and the others are parts of it."""
    action = NAMED_ACTIONS.get(guardrail.action, guardrail.action)
    if not guardrail.check:
        yield _entry(guardrail, "rule", guardrail.id, _rule(guardrail, action))
        return
    check = CHECKS[guardrail.check]
    for at, part in enumerate(check.parts):
        options = part.options(action, guardrail.marks)
        stages = stages_of(guardrail)
        named = guardrail.id if at == 0 else f"{guardrail.id}-{part.use.replace('_', '-')}"
        options |= {} if stages is None else {"stages": stages}
        options |= {} if at == 0 else {"part_of": guardrail.id}
        yield _entry(guardrail, part.use, named, options)


def stages_of(guardrail: Definition) -> list[str] | None:
    """The stages at which a named check stands for its hooks; `None` for those of its guards."""
    by_hook = CHECKS[guardrail.check].hooks
    found = [by_hook[hook] for hook in guardrail.hooks]
    known = [stage for stages in found if stages is not None for stage in stages]
    return None if None in found else list(dict.fromkeys(known))


def _rule(guardrail: Definition, action: str) -> dict[str, Any]:
    words = {"message": guardrail.description} if guardrail.description else {}
    stages = [STAGES[hook] for hook in guardrail.hooks]
    return {"when": guardrail.when, "check": guardrail.expression, "action": action, "stages": stages, **words}


def _entry(guardrail: Definition, use: str, named: str, options: dict[str, Any]) -> Node:
    """An entry whose every value stands where the file says it."""
    places = guardrail.places
    at = guardrail.node.at
    said: dict[str, Any] = {
        "use": use, "id": named, "priority": guardrail.priority, "category": guardrail.category, **options,
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
    return Node(made, at, guardrail.node.key)


def _at(places: dict[str, Node], key: str, usual: Location) -> Location:
    return places[key].at if key in places else usual


def _is_own(found: Node, guardrail: Node) -> bool:
    """Whether a node was found under its key, and not in the place of one that is missing."""
    return found is not guardrail


def _scope(found: Node) -> Node | None:
    """Whom a guardrail concerns, without what is for everybody."""
    if not isinstance(found.value, dict) or not found.value.keys() <= {"agents", "tasks", "tools"}:
        return None
    kept = {key: _listed(child) for key, child in found.value.items() if child.value not in ("*", None)}
    return Node(kept, found.at, found.key) if kept else None


def _listed(child: Node) -> Node:
    return Node([child], child.at, child.key) if isinstance(child.value, str) else child

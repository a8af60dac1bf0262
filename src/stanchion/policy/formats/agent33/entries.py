"""Entries: a guardrail as the guards of a policy that do what it says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from stanchion.kernel.actions import RISK_NAMES
from stanchion.policy.document import Location, Node
from stanchion.policy.formats.agent33.checks import CHECKS
from stanchion.policy.formats.agent33.definitions import NAMED_ACTIONS, Definition
from stanchion.policy.formats.nodes import node
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


def entries(guardrail: Definition, defaults: dict[str, str]) -> Iterator[Node]:
    """The entries of a guardrail: the first has its id, and the others are parts of it. One that
    says no action has those of each risk level, by `defaults`; only one of them is active in a
    run."""
    for at, (action, risks) in enumerate(actions_of(guardrail, defaults).items()):
        named = guardrail.id if at == 0 else f"{guardrail.id}-{action}"
        for node_ in _with_action(guardrail, NAMED_ACTIONS.get(action, action), named):
            yield node_ if risks is None else _at_levels(node_, risks)


def usual_action(guardrail: Definition) -> str:
    """What follows in a run without a risk level, where a guardrail does not say it."""
    return CHECKS[guardrail.check].action if guardrail.check else "block"


def actions_of(guardrail: Definition, defaults: dict[str, str]) -> dict[str, list[str] | None]:
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


def _with_action(guardrail: Definition, action: str, named: str) -> Iterator[Node]:
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


def _at_levels(entry: Node, risks: list[str]) -> Node:
    """An entry for runs at these levels alone."""
    assert isinstance(entry.value, dict)
    scope = entry.value.get("applies_to")
    own = scope.value if scope is not None and isinstance(scope.value, dict) else {}
    place = entry.at if scope is None else scope.at
    who = Node({**own, "risks": node(risks, place)}, place, place if scope is None else scope.key)
    return Node({**entry.value, "applies_to": who}, entry.at, entry.key)


def stages_of(guardrail: Definition) -> list[str] | None:
    """The stages at which a named check stands for its hooks; `None` for those of its guards."""
    by_hook = CHECKS[guardrail.check].hooks
    found = [by_hook[hook] for hook in guardrail.hooks]
    known = [stage for stages in found if stages is not None for stage in stages]
    return None if None in found else list(dict.fromkeys(known))


def _rule(guardrail: Definition, action: str) -> dict[str, Any]:
    words = {"message": guardrail.description} if guardrail.description else {}
    stages = [STAGES[hook] for hook in guardrail.hooks]
    return {
        "when": guardrail.when,
        "check": guardrail.expression,
        "action": action,
        "stages": stages,
        **words,
    }


def _entry(guardrail: Definition, use: str, named: str, options: dict[str, Any]) -> Node:
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
    kept = {
        key: _listed(child) for key, child in found.value.items() if child.value not in ("*", None)
    }
    return Node(kept, found.at, found.key) if kept else None


def _listed(child: Node) -> Node:
    return Node([child], child.at, child.key) if isinstance(child.value, str) else child

"""What stands: guards that are always active, the parts of one guard, and who may let an action
past one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from stanchion.kernel.autonomy import OPERATOR, SUPERVISOR
from stanchion.kernel.declared import LASTING
from stanchion.policy.compiled import best
from stanchion.policy.document import Document, Node
from stanchion.policy.errors import Fault
from stanchion.policy.merge import identity_of
from stanchion.policy.schema import PolicyFile, id_of

Wrong = tuple[tuple[str | int, ...], str]
"""A path below a guard's entry, and what is wrong there."""

OFF: Final = ("enabled", False), ("mode", "shadow"), ("fail_open", True)
"""What an entry may not say of a guard that is always active."""


GLOBS: Final = frozenset("*?[")


def wrong_in(file: PolicyFile, entry: Any) -> Iterator[Wrong]:
    """What makes no sense about how an entry stands in its policy."""
    for option, value in OFF if entry.always else ():
        if getattr(entry, option) == value:
            said = (
                f"`{id_of(entry)}` is always active, and `{option}: {str(value).lower()}` would "
                f"switch it off"
            )
            yield (option,), f"{said}: leave it out"
    if entry.always and entry.applies_to.risks is not None:
        yield (
            ("applies_to", "risks"),
            f"`{id_of(entry)}` is always active, at every risk level: leave it out",
        )
    if entry.part_of:
        whole = next((one for one in file.guards if id_of(one) == entry.part_of), None)
        if whole is None or whole.part_of:
            from stanchion.policy.nearest import hint

            ids = [id_of(one) for one in file.guards if not one.part_of]
            yield (
                ("part_of",),
                f"there is no guard `{entry.part_of}` to be a part of: {hint(entry.part_of, ids)}",
            )
    yield from _bypass(file, entry)


def _bypass(file: PolicyFile, entry: Any) -> Iterator[Wrong]:
    role = entry.bypass.requires_approval
    if entry.bypass.allowed and not role:
        known = ", ".join(f"`{name}`" for name in _roles(file))
        yield (
            ("bypass",),
            f"`requires_approval` is missing: name the role whose yes it takes, one of {known}",
        )
    if role and role not in _roles(file):
        from stanchion.policy.nearest import hint

        yield (
            ("bypass", "requires_approval"),
            f"there is no role `{role}` that answers: {hint(role, _roles(file))}",
        )


def wrong_responses(file: PolicyFile) -> Iterator[Wrong]:
    """What makes no sense about the tools that may stop harm in an emergency."""
    for at, name in enumerate(file.bypass.safety_responses):
        entry = best(file.tools, name)
        if not name or set(name) & GLOBS:
            yield (
                ("safety_responses", at),
                f"`{name}` is no tool's exact name: name each tool by itself",
            )
        elif entry is not None and entry.effect in LASTING:
            said = (
                f"the effect of `{name}` is `{entry.effect}`, and nobody may answer before it "
                f"runs: leave it out, or declare another effect"
            )
            yield ("safety_responses", at), said


def _roles(file: PolicyFile) -> list[str]:
    """The roles in which somebody may answer."""
    of_operators = [role for operator in file.operators.values() for role in operator.roles]
    return list(dict.fromkeys([*file.escalation.roles, SUPERVISOR, OPERATOR, *of_operators]))


def unsettled(under: Document, merged: Document) -> Iterator[Fault]:
    """Faults of an overlay that changes, or takes away, what is always active in what it lies
    over."""
    after = {identity_of(node): node for node in _entries(merged)}
    for node in _entries(under):
        if not _is_always(node):
            continue
        now = after.get(identity_of(node))
        if now is None:
            place = merged.key_place("guards")
            yield Fault(
                str(place),
                f"`{identity_of(node)}` is always active and cannot be removed: leave it in its "
                f"place",
            )
        elif now.data() != node.data():
            was = node.data()
            odd = next((key for key, child in _fields(now) if child.data() != was.get(key)), "")
            at = now.at if not odd else _fields_at(now, odd)
            yield Fault(
                str(at),
                f"`{identity_of(node)}` is always active and cannot be changed: leave the entry "
                f"out",
            )


def _entries(document: Document) -> list[Node]:
    root = document.root.value
    guards = root.get("guards") if isinstance(root, dict) else None
    return guards.value if guards is not None and isinstance(guards.value, list) else []


def _fields(node: Node) -> list[tuple[str, Node]]:
    return list(node.value.items()) if isinstance(node.value, dict) else []


def _fields_at(node: Node, key: str) -> Any:
    child = dict(_fields(node))[key]
    return child.at if child.key is None else child.key


def _is_always(node: Node) -> bool:
    return any(key == "always" and child.value is True for key, child in _fields(node))

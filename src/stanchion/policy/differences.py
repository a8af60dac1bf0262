"""What differs between two policies in effect: guards as they are placed, and what is said of
agents and tools."""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from stanchion.kernel.guard import Placed
from stanchion.policy.compiled import CompiledPolicy, GuardSeat
from stanchion.policy.schema import ENTRIES, Placement, table_of

TABLES: Final = ("roles", "agents", "tasks", "tools", "risk", "approved", "credentials", "prices")
_PLACED: Final = frozenset(Placement.__struct_fields__)


class PolicyChange(msgspec.Struct, frozen=True):
    """One difference: of what (`guard step-limit`, `agent scout`), and each value that is another
    one, old and new."""

    kind: Literal["added", "removed", "changed"]
    what: str
    values: dict[str, tuple[Any, Any]] = {}


def differences(old: CompiledPolicy, new: CompiledPolicy) -> tuple[PolicyChange, ...]:
    """What differs in effect; guards that are switched off have none."""
    found: list[PolicyChange] = []
    whole = [
        {name: _plain(getattr(p.file, name)) for name in ("name", "version", "mode")}
        for p in (old, new)
    ]
    for name in (
        "limits",
        "escalation",
        "bypass",
        "degrade",
        "door",
        "deep",
        "faults",
        "experience",
        "advice",
    ):
        for said, policy in zip(whole, (old, new), strict=True):
            said |= {
                f"{name}.{key}": value for key, value in _plain(getattr(policy.file, name)).items()
            }
    found += _changed("policy", *whole)
    found += _tables(
        "guard",
        {s.placed.id: effect_of(s) for s in old.seats},
        {s.placed.id: effect_of(s) for s in new.seats},
    )
    for table in TABLES:
        found += _tables(
            table.removesuffix("s"),
            _plain(table_of(old.file, table)),
            _plain(table_of(new.file, table)),
        )
    return tuple(found)


def effect_of(seat: GuardSeat) -> dict[str, Any]:
    """What a guard is in effect: where it stands, whom it concerns, and all its options."""
    placed: Placed = seat.placed
    listed = {
        f"applies_to.{kind}": sorted((*names.exact, *names.globs))
        for kind, names in (
            ("agents", seat.agents),
            ("tasks", seat.tasks),
            ("tools", seat.tools),
            ("risks", seat.risks),
        )
        if names is not None
    }
    entry = ENTRIES.get(getattr(placed.guard, "name", ""))
    options = (
        [name for name in entry.__struct_fields__ if name not in _PLACED]
        if entry is not None
        else []
    )
    return {
        "use": placed.guard.name,
        "priority": placed.priority,
        "category": placed.category.name.lower(),
        "stages": sorted(placed.stages),
        "mode": "shadow" if placed.shadow else "enforce",
        "fail_open": placed.fail_open,
        "log_pass": placed.log_pass,
        "part_of": placed.part_of,
        **listed,
        **{name: _plain(getattr(placed.guard, name)) for name in options},
    }


def _tables(what: str, old: dict[str, Any], new: dict[str, Any]) -> list[PolicyChange]:
    found = [PolicyChange("removed", f"{what} {name}") for name in old if name not in new]
    found += [
        PolicyChange("added", f"{what} {name}", _from_nothing(new[name]))
        for name in new
        if name not in old
    ]
    return found + [
        change
        for name in old
        if name in new
        for change in _changed(f"{what} {name}", old[name], new[name])
    ]


def _changed(what: str, old: dict[str, Any], new: dict[str, Any]) -> list[PolicyChange]:
    names = [*old, *(name for name in new if name not in old)]
    values = {
        name: (old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)
    }
    return [PolicyChange("changed", what, values)] if values else []


def _from_nothing(said: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {
        name: (None, value)
        for name, value in said.items()
        if value not in (None, (), [], "", False)
    }


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(value)

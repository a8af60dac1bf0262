"""Two policies compared: everything by which the new one may let something through that the old one
would not, in what it says for all, of its guards, and in its tables as they take effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import msgspec

from stanchion.kernel.contract.powers import Powers, all_having
from stanchion.kernel.names import is_glob
from stanchion.kernel.option import Stricter
from stanchion.policy.compiled import CompiledPolicy, best
from stanchion.policy.conditions import Condition, compile_expression
from stanchion.policy.conditions.view import STANDARD
from stanchion.policy.loosening.directions import Loosening, changed, directions_within, keeps
from stanchion.policy.loosening.guards import guards_loosened
from stanchion.policy.rules import Rule
from stanchion.policy.schema import (
    AgentEntry,
    PolicyFile,
    RoleEntry,
    TaskEntry,
    ToolEntry,
    readers,
    table_of,
)
from stanchion.policy.seat import leaves_out
from stanchion.policy.sections import RiskEntry, TaskBudget, TaskFiles
from stanchion.policy.sequences import Sequence

READ_AS: Final = {
    ("tools", "risk"): "event.risk",
    ("tools", "result"): "event.traits",
    ("roles", "capabilities"): "agent.capabilities",
    ("agents", "capabilities"): "agent.capabilities",
    ("roles", "allowed_tools"): "agent.allowed_tools",
    ("agents", "allowed_tools"): "agent.allowed_tools",
    ("tasks", "additional_tools"): "task.additional_tools",
}
"""How conditions read a key: a rule may refuse for what another guard would rather have."""

_EMPTY: Final[dict[str, Any]] = {"files": TaskFiles(), "budget": TaskBudget()}

NOTHING: Final[dict[str, Any]] = {
    "roles": RoleEntry(),
    "agents": AgentEntry(),
    "tasks": TaskEntry(),
    "tools": ToolEntry(),
    "risk": RiskEntry(),
}

TABLES: Final = {table: directions_within(type(entry)) for table, entry in NOTHING.items()}
"""Which way each key of an entry becomes stricter, by table. Some guards are stricter about tools
that only read, others about those that act."""


class _Known(NamedTuple):
    """What of a policy bears on whether a change of a table is stricter."""

    reads: frozenset[str]
    fickle: tuple[Powers, ...]
    roles_open: bool
    some_levels: bool


def tables_loosened(old: CompiledPolicy, new: CompiledPolicy) -> Iterator[Loosening]:
    """What of the tables may let more through."""
    known = _known(old)
    for table, directions in TABLES.items():
        for name, before, after in _pairs(
            table, table_of(old.file, table), table_of(new.file, table)
        ):
            what = f"{table.removesuffix('s')} {name}"
            for key, stricter in directions.items():
                if key == "unread" and before.unread is None and after.unread is None:
                    # The policy's own word counts, and that is compared by itself.
                    continue
                was, now = _value(old, before, key), _value(new, after, key)
                if (
                    (table, key, was) == ("tasks", "risk", None)
                    and now is not None
                    and not leaves_out(new, now)
                ):
                    # A task without a level gets one at which no guard is missing.
                    continue
                if was != now and not (
                    _holds(known, table, key, was) and keeps(stricter, was, now)
                ):
                    yield changed(what, key, was, now)
    if old.file.prices != new.file.prices:
        names = [
            *old.file.prices,
            *(name for name in new.file.prices if name not in old.file.prices),
        ]
        odd = next(name for name in names if old.file.prices.get(name) != new.file.prices.get(name))
        yield changed(f"price {odd}", "rates", old.file.prices.get(odd), new.file.prices.get(odd))


def told_otherwise(old: CompiledPolicy, new: CompiledPolicy) -> frozenset[str]:
    """The guards, by their `use`, that read something else in the new tables."""
    return frozenset(
        use
        for table, directions in TABLES.items()
        for _, before, after in _pairs(table, table_of(old.file, table), table_of(new.file, table))
        for key, stricter in directions.items()
        if stricter is not Stricter.SAME and _value(old, before, key) != _value(new, after, key)
        for use in readers(table, key)
    )


def _holds(known: _Known, table: str, key: str, old: Any) -> bool:
    """Whether the direction of a key holds in a policy with these guards."""
    if READ_AS.get((table, key)) in known.reads:
        return False
    if (table, key) == ("tasks", "risk") and known.some_levels:
        return False
    if key == "allowed_tools" and old is None and not known.roles_open:
        return False
    return all(guard.rises_with(table, key, old) for guard in known.fickle)


def _pairs(table: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Names with what is said of them before and after, so that every name whatever is like one of
    the pairs.

    1. A name that is written out: what takes effect for it, before and after.
    2. A pattern in both: for the names that are closest to it in both.
    3. A pattern that is new: its names may have been under any other pattern, or under none.
    4. A pattern that is gone: its names may now be under any other pattern, or under none.
    """
    nothing = NOTHING[table]
    globs = table != "roles"
    exact = [name for name in dict.fromkeys([*old, *new]) if not (globs and is_glob(name))]
    for name in exact:
        pair = (best(old, name), best(new, name)) if globs else (old.get(name), new.get(name))
        yield name, *(nothing if entry is None else entry for entry in pair)
    if not globs:
        return
    before = {name: entry for name, entry in old.items() if is_glob(name)}
    after = {name: entry for name, entry in new.items() if is_glob(name)}
    for name in before.keys() & after.keys():
        yield name, before[name], after[name]
    for name in sorted(after.keys() - before.keys()):
        yield from ((name, entry, after[name]) for entry in (nothing, *before.values()))
    for name in sorted(before.keys() - after.keys()):
        yield from ((name, before[name], entry) for entry in (nothing, *after.values()))


def _value(policy: CompiledPolicy, entry: Any, key: str) -> Any:
    if key == "unread":
        return policy.file.unread if entry.unread is None else entry.unread
    first, _, second = key.partition(".")
    value = getattr(entry, first)
    value = None if value is msgspec.UNSET else value
    return getattr(_EMPTY[first] if value is None else value, second) if second else value


def _known(policy: CompiledPolicy) -> _Known:
    reads: set[str] = set()
    guards = [seat.placed.guard for seat in policy.seats]
    for guard in guards:
        match guard:
            case Rule():
                checked = guard.check_condition
                reads |= guard.when_condition.reads | (
                    frozenset() if checked is None else checked.reads
                )
            case Sequence():
                reads |= _reads_of(guard)
    roles_open = all(role.allowed_tools is None for role in policy.file.roles.values())
    some_levels = any(entry.applies_to.risks is not None for entry in policy.file.guards)
    return _Known(
        frozenset(reads), tuple(all_having(guards, "rises_with")), roles_open, some_levels
    )


def _reads_of(guard: Sequence) -> frozenset[str]:
    steps = [getattr(guard, name) for name in guard.__struct_fields__]
    conditions: list[Condition] = [
        step.condition for step in steps if getattr(step, "condition", None) is not None
    ]
    conditions += [] if guard.distinct is None else [compile_expression(guard.distinct, STANDARD)]
    return frozenset().union(*(condition.reads for condition in conditions))


WHOLE: Final = {
    path: stricter
    for path, stricter in directions_within(PolicyFile).items()
    if path not in {*TABLES, "guards", "prices"}
}
"""Which way what a policy says for all becomes stricter; guards and tables are compared entry by
entry."""


def loosenings(old: CompiledPolicy, new: CompiledPolicy) -> tuple[Loosening, ...]:
    """What the new policy may let through that the old one would not, judging one event on the same
    state.

    Whatever is not known to be the same or stricter is among it. An empty answer means that every
    event which the old policy refuses is refused by the new one.
    """
    told = told_otherwise(old, new)
    return (*_whole(old, new), *guards_loosened(old, new, told), *tables_loosened(old, new))


def _whole(old: CompiledPolicy, new: CompiledPolicy) -> Iterator[Loosening]:
    for path, stricter in WHOLE.items():
        before, after = _value_at(old.file, path), _value_at(new.file, path)
        if not keeps(stricter, before, after):
            yield changed("policy", path, before, after, sure=stricter is not Stricter.SAME)
    asked, later = old.file.escalation.roles, new.file.escalation.roles
    if (
        set(later) <= set(asked)
        and later != asked
        and (not later or tuple(role for role in asked if role in later) != later)
    ):
        yield changed("policy", "escalation.roles", asked, later)


def _value_at(file: Any, path: str) -> Any:
    for name in path.split("."):
        file = getattr(file, name)
    if path in ("approved", "credentials"):
        # An entry that says something else is another one, whatever it is called.
        return tuple(
            [f"{name} {msgspec.json.encode(entry).decode()}" for name, entry in file.items()]
        )
    return file

"""The typed tree of a condition, between the type checker and the emission of code: every name
resolved, every operation chosen. With what a condition reads, and at which values of a name it can
be true at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import msgspec

from stanchion.policy.conditions.kinds import Type


class Typed(msgspec.Struct, frozen=True):
    """A part whose type is known."""

    type: Type


class Const(Typed, frozen=True):
    """A value known at load."""

    value: Any


class NameRead(Typed, frozen=True):
    """A declared name, read as an attribute of the view."""

    name: str
    attr: str


class Local(Typed, frozen=True):
    """The variable of the `slot`-th enclosing macro, counted from the outside; `argument` where it
    goes over a call's arguments, or over what is made of them."""

    slot: int
    argument: bool = False


class ListMade(Typed, frozen=True):
    """A list built at evaluation."""

    items: tuple[Core, ...]


class MapMade(Typed, frozen=True):
    """A map built at evaluation."""

    pairs: tuple[tuple[Core, Core], ...]


class Do(Typed, frozen=True):
    """One operation of the table in `operations`."""

    op: str
    args: tuple[Core, ...]


class Required(Typed, frozen=True):
    """A part that has no value where it is null and the event has arguments, read as `attr`."""

    of: Core
    attr: str


class Junction(Typed, frozen=True):
    """Parts of which all (`every`) or one must be true."""

    every: bool
    parts: tuple[Core, ...]


class Selection(Typed, frozen=True):
    """One of two values."""

    test: Core
    yes: Core
    no: Core


class MacroLoop(Typed, frozen=True):
    """A macro: `body` for each element of `over`; `result` is what `map` with a filter gives."""

    op: str
    over: Core
    slot: int
    body: Core
    result: Core | None = None


Core: TypeAlias = (
    Const | NameRead | Local | ListMade | MapMade | Do | Required | Junction | Selection | MacroLoop
)


Scalar = str | bytes | int | float | bool | None
Needs = dict[str, frozenset[Scalar]]
_EXACT: Final = 2**53


def parts_of(core: Core) -> Iterator[Core]:
    """The parts directly under one."""
    match core:
        case ListMade():
            yield from core.items
        case MapMade():
            for key, value in core.pairs:
                yield from (key, value)
        case Do():
            yield from core.args
        case Required():
            yield core.of
        case Junction():
            yield from core.parts
        case Selection():
            yield from (core.test, core.yes, core.no)
        case MacroLoop():
            yield from (core.over, core.body)
            if core.result is not None:
                yield core.result


def path_of(core: Core) -> str | None:
    """The dotted path that a chain of reads spells; `None` where it is something else."""
    match core:
        case NameRead():
            return core.name
        case Do(op="get" | "at" | "has", args=(of, Const(value=str() as field))):
            before = path_of(of)
            return None if before is None else f"{before}.{field}"
        case Do(op="present" | "dyn", args=(of,)) | Required(of=of):
            return path_of(of)
    return None


def reads_of(core: Core) -> frozenset[str]:
    """The longest dotted paths that a condition reads."""
    path = path_of(core)
    if path is not None:
        return frozenset({path})
    return frozenset().union(*(reads_of(part) for part in parts_of(core)))


def needs_of(core: Core) -> Needs:
    """For some names the values outside of which the condition is certainly false.

    Membership is meant as Python's, by which `1`, `1.0` and `true` are one value: an index built
    from this never misses a rule.
    """
    match core:
        case Junction(every=True):
            return _together([needs_of(part) for part in core.parts])
        case Junction():
            return _either([needs_of(part) for part in core.parts])
        case Do(op="eq", args=(left, right)):
            return _one(left, right) or _one(right, left)
        case Do(op="in", args=(left, Const(value=tuple() as values))):
            path = _safe(left)
            if path is not None and all(_exact(value) for value in values):
                return {path: frozenset(values)}
    return {}


def _one(read: Core, literal: Core) -> Needs:
    path = _safe(read)
    if path is None or not isinstance(literal, Const) or not _exact(literal.value):
        return {}
    return {path: frozenset({literal.value})}


def _exact(value: object) -> bool:
    """Whether a set finds all that equals a literal: no list, and no number that doubles cannot
    tell apart."""
    if isinstance(value, int | float):
        return -_EXACT <= value <= _EXACT
    return value is None or isinstance(value, str | bytes)


def _safe(core: Core) -> str | None:
    """The path of a read that cannot fail: a declared name, or a field of one that is a map if it
    is there."""
    match core:
        case NameRead():
            return core.name
        case Do(op="get" | "at", args=(NameRead(), Const(value=str()))) if (
            core.args[0].type.kind == "map"
        ):
            return path_of(core)
        case Required():
            return _safe(core.of)
    return None


def _together(all_needs: list[Needs]) -> Needs:
    joined: Needs = {}
    for needs in all_needs:
        for path, values in needs.items():
            joined[path] = joined[path] & values if path in joined else values
    return joined


def _either(all_needs: list[Needs]) -> Needs:
    shared = set.intersection(*(set(needs) for needs in all_needs))
    return {
        path: frozenset().union(*(needs[path] for needs in all_needs)) for path in sorted(shared)
    }

"""How far a guard reaches: on which events it can speak at all, told without any event, and what
keeps it silent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from math import inf
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from stanchion.kernel.actions import STOPS
from stanchion.kernel.contract.powers import having
from stanchion.kernel.guard import order
from stanchion.kernel.names import Names, names
from stanchion.kernel.stages import Stage
from stanchion.policy.compiled import GuardSeat
from stanchion.policy.conditions.parser import parse
from stanchion.policy.conditions.type_checker import TypeChecker
from stanchion.policy.conditions.typed_tree import Const, Core, Do, Junction, Needs, needs_of
from stanchion.policy.conditions.view import STANDARD
from stanchion.policy.rules import Rule

TOOL: Final = "action.tool_name"
LISTS: Final = {"tools": TOOL, "agents": "agent.id", "tasks": "task.id", "risks": "run.risk"}
"""What the lists of `applies_to` are compared with."""

LOOKED_AT: Final = 64
"""How many earlier guards are compared with one guard at the most, so that no policy takes long."""

Values = frozenset[Any]


class Reach(NamedTuple):
    """Where a guard speaks: at these stages, where every name in `exact` has one of its values,
    every name in `globs` matches, and every part holds; unless all of `unless` holds. `needs` are
    values outside of which it is silent."""

    stages: frozenset[Stage]
    exact: dict[str, Values]
    globs: tuple[tuple[str, Names], ...] = ()
    parts: frozenset[Core] = frozenset()
    unless: frozenset[Core] | None = None
    needs: Mapping[str, Values] = MappingProxyType({})

    def covers(self, other: Reach) -> bool:
        """Whether this one certainly speaks wherever the other does."""
        return (
            self.stages >= other.stages
            and self.parts <= other.parts
            and all(other.needs.get(name, _ANY) <= values for name, values in self.exact.items())
            and all(_within(other, name, listed) for name, listed in self.globs)
            and (self.unless is None or (other.unless is not None and other.unless <= self.unless))
        )


_ANY: Final[Values] = frozenset({object()})


def _within(other: Reach, name: str, listed: Names) -> bool:
    if name in other.needs:
        return all(isinstance(value, str) and value in listed for value in other.needs[name])
    return any(
        set(own.globs) <= set(listed.globs) and all(value in listed for value in own.exact)
        for asked, own in other.globs
        if asked == name
    )


def reach_of(seat: GuardSeat) -> Reach:
    """How far the guard in a seat reaches."""
    return _Guard(seat).reach


def _needs(
    seat: GuardSeat,
) -> tuple[dict[str, Values], dict[str, Values], tuple[tuple[str, Names], ...]]:
    """What a guard cannot do without, told from its lists and its index alone; and what its lists
    say."""
    guard = seat.placed.guard
    lists = [(LISTS[kind], getattr(seat, kind)) for kind in LISTS]
    reaching = having(guard, "reaches")
    lists += (
        []
        if reaching is None
        else [(name, names(listed)) for name, listed in reaching.reaches().items()]
    )
    exact: dict[str, Values] = {}
    for name, listed in lists:
        if listed is not None and not listed.globs:
            _narrow(exact, name, listed.exact)
    needs = dict(exact)
    for name, values in guard.needs.items() if isinstance(guard, Rule) else ():
        _narrow(needs, _one_name(name), values)
    return (
        needs,
        exact,
        tuple((name, listed) for name, listed in lists if listed is not None and listed.globs),
    )


def _reach(
    seat: GuardSeat,
    needs: dict[str, Values],
    listed: dict[str, Values],
    globs: tuple[tuple[str, Names], ...],
) -> Reach:
    guard = seat.placed.guard
    exact = dict(listed)
    parts: list[Core] = []
    unless = None
    if isinstance(guard, Rule):
        for part in conjuncts(guard.when):
            plain = _plain(part)
            if plain is None:
                parts.append(part)
            else:
                _narrow(exact, *plain)
        unless = None if guard.check is None else frozenset(conjuncts(guard.check))
    return Reach(seat.placed.stages, exact, globs, frozenset(parts), unless, needs)


def conjuncts(source: str) -> list[Core]:
    """The parts of a condition that must all hold; one that always does is left out."""
    return [
        part for part in _flat(TypeChecker(STANDARD).check(parse(source))) if not _is(part, True)
    ]


def _flat(core: Core) -> Iterator[Core]:
    if isinstance(core, Junction) and core.every:
        for part in core.parts:
            yield from _flat(part)
    else:
        yield core


def _is(core: Core, truth: bool) -> bool:
    return isinstance(core, Const) and core.value is truth


def _plain(part: Core) -> tuple[str, Values] | None:
    """A part that says no more than that a name is one of some texts."""
    if not isinstance(part, Do) or part.op not in ("eq", "in"):
        return None
    found: Needs = needs_of(part)
    for name, values in found.items():
        if all(isinstance(value, str) for value in values):
            return _one_name(name), values
    return None


def _one_name(name: str) -> str:
    return TOOL if name == "event.tool" else name


def _narrow(known: dict[str, Values], name: str, values: Values) -> None:
    known[name] = known[name] & values if name in known else values


def stops(seat: GuardSeat) -> bool:
    """Whether a guard refuses, and so ends the chain, wherever it reaches."""
    placed = seat.placed
    if placed.shadow or not (
        isinstance(placed.guard, Rule) or having(placed.guard, "reaches") is not None
    ):
        return False
    answering = having(placed.guard, "actions")
    return answering is not None and all(action >= STOPS for action in answering.actions())


def silenced(seats: Iterable[GuardSeat]) -> Iterator[tuple[GuardSeat, GuardSeat]]:
    """Guards that are never reached, each with the earlier one that stops everything it concerns.

    Guards that stop are filed under the rarest thing they ask for, so that hardly any pair is
    looked at: a guard that covers another needs no other values than that one, and has no parts
    that the other lacks.
    """
    chain = [_Guard(seat) for seat in sorted(seats, key=lambda seat: order(seat.placed))]
    stopping = [(at, guard) for at, guard in enumerate(chain) if stops(guard.seat)]
    often: Counter[Any] = Counter(
        mark for _, guard in stopping for marks in guard.named for mark in marks
    )
    crowded = {at for at, guard in stopping if _rarest(guard.named, often)[0] > LOOKED_AT}
    often.update(part for at, guard in stopping if at in crowded for part in guard.reach.parts)
    filed: dict[Any, list[tuple[int, _Guard]]] = {}
    for at, guard in stopping:
        parts = [[part] for part in guard.reach.parts] if at in crowded else []
        for mark in _rarest([*guard.named, *parts], often)[1]:
            filed.setdefault(mark, []).append((at, guard))
    for at, guard in enumerate(chain):
        if any(not values for values in guard.needs.values()):
            continue
        asked: list[Any] = [(name, next(iter(values))) for name, values in guard.needs.items()]
        asked += [None, *(guard.reach.parts if crowded else ())]
        before = [
            wide for mark in asked for place, wide in filed.get(mark, ())[:LOOKED_AT] if place < at
        ]
        found = next((wide for wide in before if wide.reach.covers(guard.reach)), None)
        if found is not None:
            yield guard.seat, found.seat


def _rarest(marks: list[list[Any]], often: Counter[Any]) -> tuple[float, list[Any]]:
    """How often, and which, the marks are that the fewest guards have; without any it is found by
    everybody."""
    counted = [(float(max(often[mark] for mark in each)), each) for each in marks]
    return min(counted, key=lambda pair: pair[0], default=(inf, [None]))


class _Guard:
    """A guard with what is known of its reach; its conditions are only read where they matter."""

    def __init__(self, seat: GuardSeat) -> None:
        self.seat = seat
        self.needs, self._exact, self._globs = _needs(seat)
        self.named = [
            [(name, value) for value in values] for name, values in self.needs.items() if values
        ]
        """Under what every guard finds it that it covers: all values of one of its names."""

    @cached_property
    def reach(self) -> Reach:
        return _reach(self.seat, self.needs, self._exact, self._globs)

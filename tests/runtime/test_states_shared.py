"""States that several processes move at once, on every store: as if one after the other, and every
move an edge."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.kernel.compare_and_set import change
from stanchion.kernel.state import StoreLost
from stanchion.kernel.states import EDGES, Mark, Signal, Terms, moved, phase
from stanchion.runtime.standing.states import shift, shown
from stanchion.stores.protocol import Store
from stanchion.testing import FakeClock
from tests.guards.test_queue import stores

NAMES = ("", "tool:pay", "agent:ann")
TERMS = Terms(recover_ms=1_000, quarantine_ms=4_000, halt_after=3)
ALLOWED = {(shown(edge.start), shown(edge.end)) for edge in EDGES}


class Mover:
    """A process that gives a signal: it goes on one store trip at a time."""

    def __init__(
        self, store: Store, records: dict[str, Any], number: int, name: str, signal: Signal
    ) -> None:
        self.name, self.signal = name, signal
        self._store = store
        self._flow = shift(records, f"b{number}", "default", name, (signal,), "drawn", TERMS)
        self._given: Any = None
        self.done = False
        self.shifts: tuple[Any, ...] = ()

    def step(self) -> None:
        """One trip, or the end."""
        try:
            self._given = self._store.carry(self._flow.send(self._given))
        except StopIteration as stop:
            self.done, self.shifts = True, stop.value


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres", "redis"])
@pytest.mark.parametrize("seed", range(3))
def test_movers_who_race_leave_what_some_order_leaves(kind: str, seed: int, tmp_path: Path) -> None:
    drawn = random.Random(seed)
    clock = FakeClock()
    with stores(kind, clock, tmp_path) as make:
        shields = [Shield.load({"name": "bare"}, store=make(), clock=clock) for _ in range(3)]
        marks: dict[str, Mark] = {}
        for number in range(25):
            clock.advance(drawn.choice((0, 10, 900, 4_100)))
            movers = [
                Mover(
                    shield.store,
                    shield.records,
                    10 * number + at,
                    drawn.choice(NAMES),
                    drawn.choice(list(Signal)),
                )
                for at, shield in enumerate(drawn.sample(shields, drawn.randint(1, 3)))
            ]
            ended: list[Mover] = []
            while len(ended) < len(movers):
                mover = drawn.choice([one for one in movers if not one.done])
                mover.step()
                ended += [mover] if mover.done else []
            for mover in ended:
                assert all((shown(one.before), shown(one.after)) in ALLOWED for one in mover.shifts)
            marks = _some_order(marks, movers, clock(), shields[0])
        for shield in {id(shield.store): shield for shield in shields}.values():
            shield.close()


def _some_order(
    marks: dict[str, Mark], movers: list[Mover], now: int, shield: Shield
) -> dict[str, Mark]:
    """The marks after the movers in an order that explains what the store has; there must be
    one."""
    from itertools import permutations

    standing = shield.standing()
    seen = {"": standing.own, **standing.marks}
    for order in permutations(movers):
        after = dict(marks)
        for mover in order:
            new = moved(after.get(mover.name, Mark()), mover.signal, now, "drawn", TERMS)
            after[mover.name] = after.get(mover.name, Mark()) if new is None else new
        if _states(after, now) == _states(seen, now):
            return {name: seen.get(name, after.get(name, Mark())) for name in NAMES}
    raise AssertionError(
        f"no order of {[(m.name, m.signal) for m in movers]} leads from {marks} to {seen}"
    )


def _states(marks: dict[str, Mark], now: int) -> dict[str, tuple[str, int]]:
    """What each mark means, and until when: one that has ended means what none means, and may be
    gone."""
    found = {name: phase(marks.get(name, Mark()), now) for name in NAMES}
    return {name: (one.state, one.until) for name, one in found.items()}


def test_a_record_that_never_stands_still_is_given_up() -> None:
    """After eight turns it is the store that is lost, not the change."""

    class Restless:
        def carry(self, batch: Any) -> Any:
            from stanchion.kernel.state import Fresh, Reply

            return Reply(5, stale=True, fresh=(Fresh(batch.expects[0][0], 9, None),))

    flow = change({}, "b", "default", "k", lambda value, now: {"now": now})
    with pytest.raises(StoreLost, match="try again"):
        _drive(flow, Restless())


def _drive(flow: Any, store: Any) -> None:
    given: Any = None
    for _ in range(20):
        given = store.carry(flow.send(given))

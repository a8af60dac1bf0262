"""What the cases of the store suite work with: an empty store, its clock, batches, and the list
they enter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from stanchion.kernel.actions import PROCEEDS, Action
from stanchion.kernel.state import Batch, Expect, Line, Put, Reply, Settle, key
from stanchion.kernel.units import Amounts
from stanchion.stores.protocol import Store
from stanchion.testing.clock import FakeClock

Make = Callable[[FakeClock], Store]
"""Gives an empty store that reads its time from that clock."""

A: Final = key("suite", "a")
B: Final = key("suite", "b")
C: Final = key("suite", "c")
R: Final = key("suite", "record")


class Desk:
    """An empty store, its clock, and batches with ids of their own."""

    def __init__(self, make: Make) -> None:
        self.clock = FakeClock()
        self.store = make(self.clock)
        self.last = ""
        self._made = 0

    def carry(
        self,
        *lines: Line,
        n: int = 1,
        go: bool = True,
        name: str = "",
        expects: tuple[Expect, ...] = (),
        settles: tuple[Settle, ...] = (),
        puts: tuple[Put, ...] = (),
        amounts: Amounts | None = None,
        ceiling: int = PROCEEDS,
    ) -> Reply:
        """Carry out one batch: `n` of unit ONE unless `amounts` are given, under a new id unless
        `name` is."""
        self._made += 1
        self.last = name if name else f"batch-{self._made}"
        given = (n, 0, 0, 0, 0) if amounts is None else amounts
        return self.store.carry(
            Batch(self.last, "suite", go, expects, settles, lines, given, puts, ceiling)
        )

    def settle(self, hold: str, actual: int | None) -> str:
        """Close one hold with an actual amount of unit ONE; gives what the store said."""
        return self.carry(
            settles=((hold, None if actual is None else (actual, 0, 0, 0, 0)),)
        ).settled[0]

    def total(self, name: str) -> int:
        """A counter's total or a record's version, after everything that is due has expired."""
        self.carry()
        return self.store.read(name)[0]


class Case(NamedTuple):
    """One thing every store must do."""

    name: str
    run: Callable[[Desk], None]

    def check(self, make: Make) -> None:
        """Run the case on a new store; raises `AssertionError` where the store does something
        else."""
        desk = Desk(make)
        try:
            self.run(desk)
        finally:
            desk.store.close()


entered: Final[list[Case]] = []


def case(run: Callable[[Desk], None]) -> Callable[[Desk], None]:
    """Enter a function as a case under its own name."""
    entered.append(Case(run.__name__, run))
    return run


def same(got: object, want: object) -> None:
    """Complain, with both values, where they differ."""
    if got != want:
        raise AssertionError(f"the store gave\n  {got!r}\nand should have given\n  {want!r}")


def upto(limit: int, action: Action = Action.BLOCK) -> tuple[tuple[int, Action], ...]:
    """The bands of a counter that is refused above a limit."""
    return ((limit, action),)

"""What the cases of the store suite work with: a store beside the memory store, one clock for both,
and a comparison after every batch."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any, Final, NamedTuple

import msgspec

from stanchion.kernel.state import Batch, Reply, text_or_value
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.seen import SeenCell
from stanchion.testing.clock import FakeClock

Make = Callable[[FakeClock], Store]
"""Gives an empty store that reads its time from that clock."""

Script = tuple[int | Batch, ...]
"""Batches in order, each carried out under a new id unless it has one; a number moves the clock by
so many milliseconds."""


class Desk:
    """Carries every batch out on an empty store and on the memory store: the replies are equal, and
    so are cells and holds after it."""

    def __init__(self, make: Make) -> None:
        self.clock = FakeClock()
        self.store, self.memory = make(self.clock), MemoryStore(self.clock)
        self._carried = 0

    def carry(self, batch: Batch) -> Reply:
        """Carry one batch out on both, and give the store's reply."""
        self._carried += 1
        if not batch.id:
            batch = msgspec.structs.replace(batch, id=f"batch-{self._carried}")
        reply = self.store.carry(batch)
        same((batch, shown(reply)), (batch, shown(self.memory.carry(batch))))
        same(
            self.store.held(batch.tenant, batch.id),
            self.memory.held(batch.tenant, batch.id),
        )
        self.compare()
        return reply

    def compare(self, prefix: str = "") -> None:
        """Compare what people see of both."""
        same(written(self.store.look(prefix)), written(self.memory.look(prefix)))
        same(list(self.store.holds()), list(self.memory.holds()))

    def play(self, script: Script) -> None:
        """Go through a script, then read every cell that it named."""
        names: dict[str, None] = {}
        for step in script:
            if isinstance(step, int):
                self.clock.advance(step)
                self.compare()
            else:
                self.carry(step)
                names |= dict.fromkeys([line.key for line in step.lines])
                names |= dict.fromkeys([name for name, *_ in step.puts])
                names |= dict.fromkeys([name for name, _, _ in step.expects])
        self.carry(Batch("", "suite"))
        for name in names:
            same((name, self.store.read(name)), (name, self.memory.read(name)))

    def drive(self, flow: Generator[Batch, Reply, Any]) -> Any:
        """Carry out what a flow asks for; gives what it returns."""
        try:
            need = next(flow)
            while True:
                need = flow.send(self.carry(need))
        except StopIteration as done:
            return done.value


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


def shown(reply: Reply) -> Reply:
    """A reply with the values of records as other processes have them."""
    fresh = [msgspec.structs.replace(one, value=text_or_value(one.value)) for one in reply.fresh]
    return msgspec.structs.replace(reply, fresh=tuple(fresh))


def written(cells: Iterator[SeenCell]) -> list[tuple[Any, ...]]:
    """Cells that something is in; a line that took nothing may leave one, or none."""
    return [(cell.key, cell.number, cell.value, cell.live) for cell in cells if cell.number]

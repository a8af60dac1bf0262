"""The track that a process leaves in a store: what it has seen carried out must still be there."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any, Final, Protocol

from stanchion import typed
from stanchion.kernel.epoch import LOST, Epoch, goes_on
from stanchion.kernel.epoch_change import declare
from stanchion.kernel.state import EPOCH, Batch, Line, Reply, StoreForgot, When
from stanchion.kernel.tuples import NamedTuple
from stanchion.stores.protocol import Lasting, Store

KNOWN_MS: Final = 1_800_000
"""How long it is sure by the store's clock that a batch and a cell are still there: batches are
remembered for an hour, and only cells count that are kept for longer than two."""
KEPT_S: Final = 7_200
MOST_CELLS: Final = 65_536
MOST_KNOWN: Final = 4_096
MOST_LINES: Final = 52
"""How many lines of a batch can be spoken of: so many bits are exact in a double."""

FORGOT: Final = (
    "the store `{}` no longer has what this process has seen in it: it was emptied, restored, or "
    "has dropped something; see `stanchion state accept`"
)


class Footprint(NamedTuple):
    """What a store must know to carry a batch out: a batch that it has carried out before, its
    store time (less than nothing where nothing is claimed), and the lines, by their bits, whose
    cells are there."""

    id: str
    now: int
    cells: int


NO_FOOTPRINT: Final = Footprint("", -1, 0)

Step = tuple[str, int, float]
"""A batch that was carried out: its id, when by the store's clock, and when by this process's."""

Taking = tuple[int, str, int]
"""A line that takes something which is kept for long: its bit, its counter and its unit."""


class Distant(Store, Lasting, Protocol):
    """A store on a server."""


class Track:
    """What one process has seen a store carry out, for each tenant. Any batch that takes something
    names the one before it, so a store that was emptied, or put back to before it, is noticed in
    the trip that would have given something out twice. Any thread may ask."""

    def __init__(self, good_for_s: float = KNOWN_MS / 1000) -> None:
        self._good_for_s: Final = good_for_s
        self._last: Final[dict[str, Step]] = {}
        self._cells: Final[dict[str, int]] = {}
        self._lines: Final[dict[int, tuple[tuple[Line, ...], list[Taking]]]] = {}

    def claim(self, batch: Batch) -> Footprint:
        """What the store must know; nothing for a batch that takes nothing, or begins an epoch."""
        lines = batch.lines
        last = self._last.get(batch.tenant) if lines and lines[0].key != EPOCH else None
        if last is None or monotonic() - last[2] > self._good_for_s:
            return NO_FOOTPRINT
        cells, since, mask = self._cells, last[1] - KNOWN_MS, 0
        for bit, name, _unit in self._taking(lines):
            if cells.get(name, since) > since:
                mask += bit
        return Footprint(last[0], last[1], mask)

    def keep(self, batch: Batch, reply: Reply) -> Reply:
        """Remember that a batch was carried out, and which cells are there since. An answer that is
        no later than the one before may be the first answer to a batch that is sent again, perhaps
        with other lines: of those nothing is learnt."""
        now, last = reply.now, self._last.get(batch.tenant)
        if reply.stale or (last is not None and now <= last[1]):
            return reply
        if len(self._cells) > MOST_CELLS or len(self._last) > MOST_CELLS:
            self.forget()
        self._last[batch.tenant] = (batch.id, now, monotonic())
        amounts, cells = batch.amounts, self._cells
        for _bit, name, unit in self._taking(batch.lines) if reply.go and batch.lines else ():
            if amounts[unit] > 0:
                cells[name] = now
        return reply

    def _taking(self, lines: tuple[Line, ...]) -> list[Taking]:
        """The lines of which something is learnt, found once for each tuple: a plan's are always
        the same."""
        known = self._lines.get(id(lines))
        if known is None or known[0] is not lines:
            if len(self._lines) >= MOST_KNOWN:
                self._lines.clear()
            taking = [
                (1 << at, line.key, line.unit)
                for at, line in enumerate(lines[:MOST_LINES])
                if line.when == When.PROCEED and _lasts(line)
            ]
            known = self._lines[id(lines)] = (lines, taking)
        return known[1]

    def knows(self, key: str, now: int) -> bool:
        """Whether a cell is there at that time, unless the store has lost it."""
        seen = self._cells.get(key)
        return seen is not None and now - seen < KNOWN_MS

    def give_up(self, server: Distant, batch: Batch) -> None:
        """Give up on a server that lacks what this process has seen in it, unless an operator has
        said to go on."""
        self.lose(self.claim(batch).now, server.read(EPOCH), server.place, server.carry)

    def lose(
        self,
        since: int,
        epoch: tuple[int, Any],
        place: str,
        carry: Callable[[Batch], object],
    ) -> None:
        """A store does not know what it has carried out at that time: `StoreForgot`, and everybody
        else is told by a batch, unless an operator has said since to go on with the store as it is.
        Then nothing is known of it any more."""
        number, value = epoch
        said = Epoch(0) if value is None else typed.convert(value, Epoch)
        if since >= 0 and not goes_on(said, since):
            if said.how != LOST:
                carry(declare(number, since))
            raise StoreForgot(FORGOT.format(place))
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._last.clear()
        self._cells.clear()


def _lasts(line: Line) -> bool:
    """Whether what a line takes is taken for certain, in a cell that is kept for long."""
    return not (line.follows or line.shadow) and (not line.idle_s or line.idle_s > KEPT_S)

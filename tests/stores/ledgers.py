"""A ledger that shows whether a store carries batches out wholly, once, and never half."""

import asyncio
import itertools
from typing import Final

from stanchion.kernel.actions import Action
from stanchion.kernel.state import Batch, Line, Reply, When
from stanchion.kernel.units import Amounts
from stanchion.stores.memory import MemoryStore
from stanchion.stores.protocol import Store
from stanchion.stores.sqlite import SqliteStore

HOUR_MS: Final = 3_600_000
ESTIMATE: Final[Amounts] = (1, 5, 0, 0, 0)
ACTUAL: Final[Amounts] = (1, 3, 0, 0, 0)
TOKENS: Final = 1
COUNT, WINDOW, SPEND, PERMIT, RECORD, REGISTER = [
    f"{{ann}}{name}" for name in ("c", "w", "s", "p", "r", "g")
]


def lines(spend: str, hold_ms: int, warns: bool) -> tuple[Line, ...]:
    """A counter, a window, spend that is settled later, a permit that is given back, and a
    register."""
    limit = 1_000_000
    bands = ((0, Action.WARN), (limit, Action.BLOCK)) if warns else ((limit, Action.BLOCK),)
    return (
        Line(COUNT, ((limit, Action.BLOCK),)),
        Line(WINDOW, bands, window_ms=HOUR_MS),
        Line(spend, ((limit * ESTIMATE[TOKENS], Action.BLOCK),), TOKENS, hold_ms=hold_ms),
        Line(PERMIT, ((3, Action.BLOCK),), hold_ms=hold_ms, keep=False),
        Line(REGISTER, bits=16, push=1),
    )


class Ledger:
    """Batches on one store: each counts by one everywhere, and settles what the one before it held.
    `hold_ms` says for how long that is held, `warns` that a line has something to say."""

    def __init__(
        self, store: Store, spend: str = SPEND, hold_ms: int = HOUR_MS, warns: bool = False
    ) -> None:
        self.store = store
        self.sent = 0
        self._lines, self._spend, self._lapses = (
            lines(spend, hold_ms, warns),
            spend,
            hold_ms < HOUR_MS,
        )
        self._numbers = itertools.count(1)
        self._batch = Batch("batch-0", "ann")
        self._last = ""

    def send(self) -> None:
        """Carry another batch out."""
        self.store.carry(self._next())

    async def asend(self) -> None:
        """The same on the running event loop."""
        await self.store.acarry(self._next())

    def asend_alone(self) -> None:
        """The same on an event loop of its own."""
        asyncio.run(self.asend())

    def check(self) -> None:
        """Nothing is half done; the last batch is carried out when it is sent again, and counts
        once. A server may be at work on it still, so that only the answer says that it is done."""
        if isinstance(self.store, MemoryStore | SqliteStore):
            self.is_whole()
        if self.sent:
            first = self.store.carry(self._batch)
            assert not first.stale
            assert first.go
            assert self._again() == first
            assert self.is_whole() == self.sent
            assert self.store.read(PERMIT)[0] == 1

    def is_whole(self) -> int:
        """How often batches were carried out, by everything that counts them."""
        counted = self.store.read(COUNT)[0]
        window = {one.key: one.live for one in self.store.look(WINDOW)}
        record = self.store.read(RECORD)
        ones = self.store.read(REGISTER)[0]
        assert window.get(WINDOW, 0) == counted, "the window and the count differ"
        assert record == ((counted, counted) if counted else (0, None)), (
            "the record and the count differ"
        )
        assert (ones == 0) == (counted == 0), "the register and the count differ"
        permits = self.store.read(PERMIT)[0]
        assert permits in ({0, 1} if self._lapses else {min(counted, 1)}), (
            "a permit is lost or given twice"
        )
        if self._spend == SPEND:
            spent = max(0, counted - 1) * ACTUAL[TOKENS] + min(counted, 1) * ESTIMATE[TOKENS]
            assert self.store.read(SPEND)[0] == spent, "spend and the count differ"
        return counted

    def _again(self) -> Reply:
        return self.store.carry(self._batch)

    def _next(self) -> Batch:
        settles = ((self._last, ACTUAL),) if self._last else ()
        puts = ((RECORD, self.sent + 1, When.PROCEED, len(self._lines), 0),)
        expects = ((RECORD, self.sent, self.sent + 1),)
        batch_id = f"batch-{next(self._numbers)}"
        batch = Batch(batch_id, "ann", True, expects, settles, self._lines, ESTIMATE, puts)
        self._batch, self._last, self.sent = batch, batch_id, self.sent + 1
        return batch

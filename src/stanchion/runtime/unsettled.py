"""Batches about what has happened that a lost store did not take: each is carried out once, when the store is back."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion.kernel.state import Batch, StoreLost
from stanchion.locks import Lock
from stanchion.runtime.asides import aside

if TYPE_CHECKING:
    from stanchion.runtime.drivers import Flow

MOST: Final = 10_000
"""How many batches wait; the oldest is given up first."""
UNKNOWN: Final = "unknown"
"""What a store says of a hold that it does not know."""
AGAIN: Final = 256
"""How many of the newest batches are sent once more at the end, because the store had not heard of what they close."""
AT_ONCE: Final = 16
"""How many of them one decision carries out besides its own."""


class Unsettled:
    """What a process has yet to tell its store: holds to close, costs to count, what came of effects.

    A batch is sent again under its own id, so that one which was carried out, and whose answer was lost, counts once.
    """

    def __init__(self) -> None:
        self._waiting: deque[Batch] = deque()
        self._unheard_of: deque[Batch] = deque(maxlen=AGAIN)
        """Batches that give back what the store has not heard of: whoever took it may have been interrupted while it
        was on its way. They are sent once more, when the shield is closed."""
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._waiting)

    def last_call(self) -> None:
        """Have everything sent once more that the store had not heard of."""
        with self._lock:
            self._waiting += self._unheard_of
            self._unheard_of.clear()

    def keep(self, batch: Batch) -> None:
        """Keep a batch until the store is back."""
        given_up: Batch | None = None
        with self._lock:
            self._waiting.append(batch)
            if len(self._waiting) > MOST:
                given_up = self._waiting.popleft()
        if given_up is not None:
            _give_up(given_up, StoreLost(f"more than {MOST:,} batches wait for the store"))

    def send(self, batch: Batch) -> Flow[Any]:
        """Carry a batch out, or have it wait until the store is back; gives the reply, `None` where there is none.

        It waits before it is sent: whoever is interrupted meanwhile leaves it to the next trip.
        """
        self.keep(batch)
        try:
            reply = yield batch
        except StoreLost:
            return None
        with self._lock:
            if batch in self._waiting:
                self._waiting.remove(batch)
        return reply

    def carry(self, most: int = AT_ONCE) -> Flow[None]:
        """Carry out what waits, oldest first, as far as the store takes it."""
        for _ in range(min(most, len(self._waiting))):
            with self._lock:
                if not self._waiting:
                    return
                batch = self._waiting.popleft()
            try:
                reply = yield batch
            except BaseException as error:
                with self._lock:
                    self._waiting.appendleft(batch)
                if isinstance(error, StoreLost):
                    return
                raise
            if UNKNOWN in reply.settled:
                # Under another id, because the answer to this one stands.
                self._unheard_of.append(msgspec.structs.replace(batch, id=f"{batch.id}.again"))

    def close(self, store: Any) -> None:
        """Carry out what still can be, and tell operators of the rest."""
        self.last_call()
        while self._waiting:
            batch = self._waiting.popleft()
            try:
                store.carry(batch)
            except Exception as error:  # noqa: BLE001 - whatever a store raises, the others have their turn
                _give_up(batch, error)
                for other in self._waiting:
                    _give_up(other, error)
                self._waiting.clear()


def _give_up(batch: Batch, why: Exception) -> None:
    held = ", ".join([f"`{hold}`" for hold, _ in batch.settles])
    aside(f"{f'what {held} reserved stays charged' if held else f'batch `{batch.id}` was not carried out'}", why)

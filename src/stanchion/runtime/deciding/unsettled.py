"""What has happened that a store was not told: each is told once more, when the store is back."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Any, Final

import msgspec

from stanchion.kernel.state import Batch, StoreLost
from stanchion.locks import Lock
from stanchion.runtime.asides import aside
from stanchion.runtime.deciding.owed import Owed
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.sync import drive
from stanchion.runtime.driving.turns import Turns

MOST: Final = 10_000
"""How many of them wait; the oldest is given up first."""
AGAIN: Final = 256
"""How many of the newest are sent once more at the end, because the store had not heard of what
they close."""
AT_ONCE: Final = 16
"""How many of them one decision carries out besides its own."""


class Unsettled:
    """What a process has yet to tell its store: holds to close, places to give back, costs to
    count, what came of effects.

    A batch is sent again under its own id, so that one which was carried out, and whose answer was
    lost, counts once. Nothing leaves before the store has answered: whoever is cut off leaves it to
    the next one.
    """

    def __init__(self) -> None:
        self.waiting: OrderedDict[str, Owed] = OrderedDict()
        """What waits, oldest first. It is asked on every decision, and mostly empty."""
        self._unheard_of: deque[Owed] = deque(maxlen=AGAIN)
        """What gives back something that the store has not heard of: whoever took it may have been
        interrupted while it was on its way. It is sent once more, when the shield is closed."""
        self._lock = Lock()
        self.is_lost = False
        """Whether the store did not answer when it was last told something."""

    def last_call(self) -> None:
        """Have everything sent once more that the store had not heard of."""
        with self._lock:
            for one in self._unheard_of:
                self.waiting[one.id] = one
            self._unheard_of.clear()

    def keep(self, batch: Batch) -> None:
        """Keep a batch until the store is back."""
        self.owe(Owed(batch.id, (batch,)))

    def owe(self, one: Owed | None) -> None:
        """Keep what was taken and is not used until the store is told; nothing where that is
        nothing."""
        if one is None:
            return
        given_up: Owed | None = None
        with self._lock:
            self.waiting[one.id] = one
            if len(self.waiting) > MOST:
                given_up = self.waiting.popitem(last=False)[1]
        if given_up is not None:
            _give_up(given_up, StoreLost(f"more than {MOST:,} batches wait for the store"))

    def send(self, batch: Batch) -> Flow[Any]:
        """Carry a batch out, or have it wait until the store is back; gives the reply, `None` where
        there is none.

        It waits before it is sent: whoever is interrupted meanwhile leaves it to the next trip.
        """
        self.keep(batch)
        try:
            reply = yield batch
        except StoreLost:
            self.is_lost = True
            return None
        self.is_lost = False
        self.waiting.pop(batch.id, None)
        return reply

    def tell(self, one: Owed | None) -> Flow[bool]:
        """Have the store told of something now, or when it is back; says whether it was."""
        if one is None:
            return True
        self.owe(one)
        try:
            done, heard = yield from one.told()
        except StoreLost:
            self.is_lost = True
            return False
        self.is_lost = False
        self._told(one, done, heard)
        return True

    def carry(self, most: int = AT_ONCE) -> Flow[None]:
        """Carry out what waits, oldest first, as far as the store takes it."""
        for _ in range(min(most, len(self.waiting))):
            with self._lock:
                one = next(iter(self.waiting.values()), None)
                if one is None:
                    return
                self.waiting.move_to_end(
                    one.id
                )  # whoever carries out more meanwhile takes the next
            try:
                done, heard = yield from one.told()
            except StoreLost:
                self.is_lost = True
                return
            self.is_lost = False
            self._told(one, done, heard)

    def catch_up(self) -> Flow[None]:
        """Carry out what waits, unless the store did not answer when it was last asked."""
        if self.waiting and not self.is_lost:
            yield from self.carry()

    def _told(self, one: Owed, done: bool, heard: bool) -> None:
        """Let go of what the store was told; it stays where there is more to do."""
        if not done:
            return
        if not heard:
            # Under other ids, because the answers to these stand.
            again = tuple(
                [msgspec.structs.replace(batch, id=f"{batch.id}.again") for batch in one.batches]
            )
            self._unheard_of.append(Owed(f"{one.id}.again", again, one.places, one.about))
        self.waiting.pop(one.id, None)

    def close(self, store: Any) -> None:
        """Carry out what still can be, and tell operators of the rest."""
        self.last_call()
        for one in list(self.waiting.values()):
            try:
                drive(one.told(), _Alone(store))
            except Exception as error:  # noqa: BLE001 - whatever a store raises, the others have their turn
                for other in self.waiting.values():
                    _give_up(other, error)
                self.waiting.clear()
                return
            self.waiting.pop(one.id, None)


class _Alone:
    """The world of somebody who closes: a store, and nobody else in line."""

    def __init__(self, store: Any) -> None:
        self.store, self.turns, self.answering = store, Turns(), None


def _give_up(one: Owed, why: Exception) -> None:
    held = ", ".join([f"`{hold}`" for batch in one.batches for hold, _ in batch.settles])
    if one.about:
        aside(f"{one.about} was not kept", why)
        return
    if held:
        aside(f"what {held} reserved stays charged", why)
    elif one.places is None:
        aside(f"batch `{one.id}` was not carried out", why)
    if one.places is not None:
        calls = ", ".join([f"`{call}`" for call in sorted(one.places.calls)])
        aside(f"a slot of {calls} stays taken until it expires", why)

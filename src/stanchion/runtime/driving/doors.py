"""The door before a store: of thousands of tasks that begin something at once, so many are let in
at a time.

One who is inside has its event, its flow and its batch in memory. Were all inside that wait for the
store, they would crowd memory as well, and everything would take longer for everybody. So the
others wait outside, with nothing but their place in the store's own room: as long, as many and told
in the same words as those who wait inside.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from stanchion.kernel.state import StoreLost
from stanchion.runtime.driving.flow import Flow, T
from stanchion.runtime.driving.on_loop import adrive
from stanchion.stores.queue import Queue, Room, Visit

INSIDE: Final = 128
"""How many are inside at once, on one event loop."""


class Doors:
    """The doors of one store, one for each event loop."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._own: Room | None = None
        self._here: dict[asyncio.AbstractEventLoop, Queue] = {}

    def here(self) -> Queue:
        """The door on the running loop."""
        loop = asyncio.get_running_loop()
        door = self._here.get(loop)
        room = getattr(self._store, "room", None)
        if door is None or (room is not None and door.room is not room):
            for other in [other for other in list(self._here) if other.is_closed()]:
                self._here.pop(other, None)
            if room is None:
                room = self._own = self._own or Room("the store")
            door = self._here[loop] = Queue(INSIDE, room)
        return door


class DoorPlace:
    """Somebody at the door: inside until the store has answered for the first time."""

    __slots__ = ("_door", "_place", "late")

    def __init__(self, door: Queue) -> None:
        self._door, self._place = door, Visit()
        self.late: StoreLost | None = None
        """Why it was not let in."""

    async def enter(self) -> None:
        """Wait to be let in."""
        try:
            await self._door.atake(self._place)
        except StoreLost as error:
            self.late = error

    def leave(self) -> None:
        """Make room for the next; to leave twice does no harm."""
        self._door.leave(self._place)


def _doors_of(shield: Any) -> Doors:
    doors: Doors | None = shield.doors
    if doors is None:
        doors = shield.doors = Doors(shield.store)
    return doors


async def abegin(flow: Flow[T], desk: Any) -> T:
    """Run a flow that begins something to its end on the running event loop, when it is its
    turn."""
    entry = DoorPlace(_doors_of(desk.shield).here())
    try:
        try:
            await entry.enter()
            return await adrive(flow, desk, entry)
        finally:
            entry.leave()
    finally:
        entry.leave()

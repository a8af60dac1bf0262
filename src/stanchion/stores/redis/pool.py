"""Connections for threads: as many as are needed at once, up to a bound; none is carried into a
forked process."""

from __future__ import annotations

import contextlib
import os
import time
from typing import Any, Final

from stanchion.kernel.state import StoreLost
from stanchion.stores.queue import MOST, PATIENCE_S, Room, ServerCircuit, Visit, VisitQueue
from stanchion.stores.redis.address import RedisAddress, closed, unreached
from stanchion.stores.redis.connection import CHUNK, CUT, RedisLink, connect


class RedisPool:
    """Gives every command a connection to itself while it is under way. `StoreLost` where the
    server does not answer in time; `Crowded` where no connection gets free while others wait,
    too."""

    def __init__(
        self,
        address: RedisAddress,
        timeout_s: float,
        most: int,
        queue: int = MOST,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self.address: Final = address
        self.timeout_s: Final = timeout_s
        self.most: Final = most
        self.closed = False
        self._bounds = (queue, patience_s)
        self._begin()

    def ask(self, data: bytes, count: int = 1, finishes: bool = False) -> Any:
        """Send a command and wait for its answer; for several commands, the list of all their
        answers. What `finishes` something waits for no connection that others need to begin.

        On a connection that was cut while nobody used it the command is sent once more, on another
        one: it may be carried out twice.
        """
        if self._pid != os.getpid():
            self._begin()
        place, queue = Visit(), self.queue
        try:
            try:
                reply = self._ask(place, data, count, finishes)
            finally:
                _leave(queue, place)
        finally:
            _leave(queue, place)
        return reply

    def connect(self, deadline: float) -> RedisLink:
        """A connection that does not count among those of the pool; for whoever looks after it."""
        if self.closed:
            raise StoreLost(closed(self.address.name))
        try:
            link = connect(self.address, self.timeout_s, deadline)
        except StoreLost as lost:
            self._failed(str(lost))
            raise
        self.rest.worked()
        return link

    def lost(self, error: BaseException) -> StoreLost:
        """What to raise where a connection failed; the server is left alone for a moment."""
        why = unreached(self.address.name, error, self.timeout_s)
        self._failed(why)
        return StoreLost(why)

    def let_go(self) -> None:
        """Close the connections that nobody uses: the server has gone, or has become a replica."""
        with contextlib.suppress(IndexError):
            while True:
                self._idle.pop().close()

    def close(self) -> None:
        """Close for good."""
        self.closed = True
        if self._pid == os.getpid():
            self.room.turn_away(closed(self.address.name))
            self.let_go()

    def _begin(self) -> None:
        """Start with nothing, in the process that is running now."""
        self._pid = os.getpid()
        self._idle: list[RedisLink] = []
        self.room = Room(self.address.name, *self._bounds)
        self.queue = VisitQueue(self.most, self.room)
        self.rest = ServerCircuit()

    def _failed(self, why: str) -> None:
        """Leave the server alone; nobody waits for it in vain."""
        self.rest.failed(why)
        self.room.turn_away(why)

    def _ask(self, place: Visit, data: bytes, count: int, finishes: bool) -> Any:
        rest = self.rest
        if rest.why:
            rest.check()
        self.queue.take(place, finishes)
        deadline = time.monotonic() + self.timeout_s
        try:
            place.link = link = self._idle.pop()
        except IndexError:
            return self._ask_another(place, data, count, deadline)
        try:
            if count == 1 and len(data) < CHUNK:
                reply = link.ask(data, deadline)
            else:
                reply = _only(link.ask_all(data, count, deadline))
        except CUT as error:
            if isinstance(error, TimeoutError):
                raise self.lost(error) from None
            link.close()
            self.let_go()
            return self._ask_another(place, data, count, deadline)
        self._give_back(place)
        return reply

    def _ask_another(self, place: Visit, data: bytes, count: int, deadline: float) -> Any:
        """The same on a connection that is new."""
        place.link = link = self.connect(deadline)
        try:
            reply = _only(link.ask_all(data, count, deadline))
        except CUT as error:
            raise self.lost(error) from None
        self._give_back(place)
        return reply

    def _give_back(self, place: Visit) -> None:
        """Keep a connection that is ready for the next command."""
        if self.rest.why:
            self.rest.worked()
        # A connection is idle before its place is free, so there are never more of them than
        # places.
        link, place.link = place.link, None
        self._idle.append(link)
        if self.closed:
            self.let_go()


def _leave(queue: VisitQueue, place: Visit) -> None:
    """Leave; a connection that was not given back is in the middle of something, and of no use."""
    link = place.link
    if link is not None:
        link.close()
    queue.leave(place)


def _only(replies: list[Any]) -> Any:
    """The answer where there is only one."""
    return replies[0] if len(replies) == 1 else replies

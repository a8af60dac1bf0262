"""Connections for threads: as many as are needed at once, up to a bound; none is carried into a forked process."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from typing import Any, Final

from stanchion.kernel.state import StoreLost
from stanchion.stores.redis import troubles
from stanchion.stores.redis.address import Address
from stanchion.stores.redis.connecting import connect
from stanchion.stores.redis.link import CHUNK, CUT, Link
from stanchion.stores.redis.resting import Rest


class Pool:
    """Gives every command a connection to itself while it is under way; `StoreLost` where there is none in time."""

    def __init__(self, address: Address, timeout_s: float, most: int) -> None:
        self.address: Final = address
        self.timeout_s: Final = timeout_s
        self.most: Final = most
        self.closed = False
        self._begin()

    def ask(self, data: bytes, count: int = 1) -> Any:
        """Send a command and wait for its answer; for several commands, the list of all their answers.

        On a connection that was cut while nobody used it the command is sent once more, on another one: it may be
        carried out twice.
        """
        if self._pid != os.getpid():
            self._begin()
        deadline = time.monotonic() + self.timeout_s
        rest = self.rest
        if rest.why:
            rest.check(self.timeout_s)
        try:
            link = self._idle.pop()
        except IndexError:
            return self._ask_another(data, count, deadline)
        try:
            if count == 1 and len(data) < CHUNK:
                reply = link.ask(data, deadline)
            else:
                reply = _only(link.ask_all(data, count, deadline))
        except CUT as error:
            self._drop(link)
            if isinstance(error, TimeoutError):
                raise self.lost(error) from None
            self.let_go()
            return self._ask_another(data, count, deadline)
        except BaseException:
            self._drop(link)
            raise
        self._give_back(link)
        return reply

    def connect(self, deadline: float) -> Link:
        """A connection that does not count among those of the pool; for whoever looks after it."""
        if self.closed:
            raise StoreLost(troubles.closed(self.address.name))
        try:
            link = connect(self.address, self.timeout_s, deadline)
        except StoreLost as lost:
            self.rest.failed(str(lost))
            raise
        self.rest.worked()
        return link

    def lost(self, error: BaseException) -> StoreLost:
        """What to raise where a connection failed; the server is left alone for a moment."""
        why = troubles.unreached(self.address.name, error, self.timeout_s)
        self.rest.failed(why)
        return StoreLost(why)

    def let_go(self) -> None:
        """Close the connections that nobody uses: the server has gone, or has become a replica."""
        with contextlib.suppress(IndexError):
            while True:
                self._drop(self._idle.pop())

    def close(self) -> None:
        """Close for good."""
        self.closed = True
        if self._pid == os.getpid():
            self.let_go()

    def _begin(self) -> None:
        """Start with nothing, in the process that is running now."""
        self._pid = os.getpid()
        self._idle: list[Link] = []
        self._made = 0
        self._waiting = 0
        self._ready = threading.Condition()
        self.rest = Rest()

    def _ask_another(self, data: bytes, count: int, deadline: float) -> Any:
        """The same on a connection that is new, or that had to be waited for."""
        link = self._take(deadline)
        try:
            reply = _only(link.ask_all(data, count, deadline))
        except CUT as error:
            self._drop(link)
            raise self.lost(error) from None
        except BaseException:
            self._drop(link)
            raise
        self._give_back(link)
        return reply

    def _take(self, deadline: float) -> Link:
        with self._ready:
            self._waiting += 1
            try:
                while True:
                    with contextlib.suppress(IndexError):
                        return self._idle.pop()
                    if self._made < self.most:
                        self._made += 1
                        break
                    if not self._ready.wait(deadline - time.monotonic()):
                        raise StoreLost(troubles.crowded(self.address.name, self.most, self.timeout_s))
            finally:
                self._waiting -= 1
        try:
            return self.connect(deadline)
        except BaseException:
            self._unmake()
            raise

    def _give_back(self, link: Link) -> None:
        if self.rest.why:
            self.rest.worked()
        self._idle.append(link)
        if self.closed:
            self.let_go()
        if self._waiting:
            with self._ready:
                self._ready.notify()

    def _drop(self, link: Link) -> None:
        link.close()
        self._unmake()

    def _unmake(self) -> None:
        with self._ready:
            self._made -= 1
            self._ready.notify()


def _only(replies: list[Any]) -> Any:
    """The answer where there is only one."""
    return replies[0] if len(replies) == 1 else replies

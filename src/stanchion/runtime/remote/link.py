"""The link to a broker: a session that lives as long as the client, and connections for what it
says at a time."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

from stanchion.locks import Lock
from stanchion.runtime.driving.flow import Flow, T
from stanchion.runtime.driving.needs import Invoke, Turn
from stanchion.runtime.remote.errors import BrokerLost
from stanchion.runtime.remote.messages import LOST, Sorry
from stanchion.runtime.remote.wire import Wire, connected

MOST_IDLE: Final = 16
"""How many connections wait for the next thing to say."""


class Link:
    """Reaches one broker. Safe between threads, event loops and forked processes."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = Lock()
        self._anchor: Wire | None = None
        self._idle: list[Wire] = []
        self._pid = os.getpid()
        self._closed = False

    def at_hand(self) -> Wire | None:
        """A connection that nobody else uses, where there is one; never waits."""
        with self._lock.within(0) as held:
            if (
                not held
                or self._anchor is None
                or self._pid != os.getpid()
                or self._anchor.is_closed()
            ):
                return None
            return self._waiting()

    def wire(self) -> Wire:
        """A connection that nobody else uses, made where there is none; `BrokerLost` where none can
        be."""
        with self._lock:
            self._renew()
            wire, anchor = self._waiting(), self._anchor
            assert anchor is not None
        return connected(self.path, anchor.session) if wire is None else wire

    def _waiting(self) -> Wire | None:
        while self._idle:
            wire = self._idle.pop()
            if not wire.is_closed():
                return wire
            wire.close()
        return None

    def _renew(self) -> None:
        """Begin a session where there is none: at first, when the broker was restarted, and in a
        forked process, which is a client of its own and whose connections are its parent's."""
        if self._closed:
            raise BrokerLost("this shield is closed: load another one")
        if self._pid != os.getpid():
            self._anchor, self._idle, self._pid = None, [], os.getpid()
        if self._anchor is not None and self._anchor.is_closed():
            for wire in (self._anchor, *self._idle):
                wire.close()
            self._anchor, self._idle = None, []
        if self._anchor is None:
            self._anchor = connected(self.path)

    def back(self, wire: Wire) -> None:
        """Give a connection back that nothing more is said on."""
        with self._lock:
            anchor = self._anchor
            if (
                not self._closed
                and anchor is not None
                and wire.session == anchor.session
                and self._has_room()
            ):
                self._idle.append(wire)
                return
        wire.close()

    def _has_room(self) -> bool:
        return len(self._idle) < MOST_IDLE and self._pid == os.getpid()

    def close(self) -> None:
        """End the session, and with it what is left of its runs."""
        with self._lock:
            self._closed = True
            for wire in (*self._idle, *([] if self._anchor is None else [self._anchor])):
                wire.close()
            self._idle, self._anchor = [], None


class Conversation:
    """One thing that is asked, with whatever is said until it is answered."""

    def __init__(self, link: Link, wire: Wire) -> None:
        self._link, self.wire = link, wire

    def say(self, message: Any) -> Flow[Any]:
        """Say something and get the answer; `BrokerLost` where none comes."""
        answer = yield Turn(_Saying(self.wire, message), 0.0)
        return answer

    def ask(self, request: Any) -> Flow[Any]:
        """`say` for a request: one whose answer is lost on the way is asked for again by its id, of
        the same broker, which judges nothing twice."""
        first = self.wire
        try:
            return (yield from self.say(request))
        except BrokerLost:
            self.wire.close()
            self.wire = yield Invoke(self._link.wire)
            if (self.wire.boot, self.wire.session) != (first.boot, first.session):
                raise
        answer = yield from self.say(request)
        if isinstance(answer, Sorry) and answer.code == LOST:
            raise BrokerLost(answer.text)
        return answer

    def over(self) -> None:
        """Everything is said: the connection can be used again."""
        self._link.back(self.wire)

    def broken(self) -> None:
        """Something was left unsaid: nobody else can use the connection."""
        self.wire.close()


def conversed(link: Link, talk: Callable[[Conversation], Flow[T]]) -> Flow[T]:
    """Have a conversation; its connection is used again where it came to its end."""
    wire = link.at_hand()
    if wire is None:
        wire = yield Invoke(link.wire)
    conversation = Conversation(link, wire)
    try:
        answer = yield from talk(conversation)
    except BaseException:
        conversation.broken()
        raise
    conversation.over()
    return answer


class _Saying:
    """A message under way, for whichever driver waits for its answer: `Turn` is what both of them
    wait for."""

    def __init__(self, wire: Wire, message: Any) -> None:
        self._wire, self._message = wire, message

    def wait(self, _patience_s: float) -> Any:
        return self._wire.exchange(self._message)

    async def await_turn(self, _patience_s: float) -> Any:
        return await self._wire.aexchange(self._message)

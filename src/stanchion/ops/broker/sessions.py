"""Sessions: a client's connections, as long as the one lives that began them. What it leaves behind
ends with it."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import Final

from stanchion.ops.broker.peers import Peer
from stanchion.runtime.remote.framing import packed
from stanchion.runtime.remote.messages import LOST, Sorry

MOST_REMEMBERED: Final = 256
MOST_BYTES: Final = 1 << 20
"""How many answers are remembered, and how many bytes of them."""

NOT_AGAIN: Final = packed(Sorry("this was asked before, and its answer is no longer known", LOST))
UNDER_WAY: Final = packed(Sorry("this was asked before, and is still being judged", LOST))


class Remembered:
    """The first answers to what was asked lately. Nothing is judged twice for the same request."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answers: OrderedDict[str, bytes] = OrderedDict()
        self._under_way: set[str] = set()
        self._bytes = 0

    def first(self, request: str) -> bytes | None:
        """The answer to a request that was asked before; `None` where it is new, and now under
        way."""
        with self._lock:
            if request in self._under_way:
                return UNDER_WAY
            known = self._answers.get(request)
            if known is None:
                self._under_way.add(request)
            return known

    def answered(self, request: str, frame: bytes | None) -> None:
        """Remember an answer; without one, that there is none."""
        kept = NOT_AGAIN if frame is None or len(frame) > MOST_BYTES // 8 else frame
        with self._lock:
            self._under_way.discard(request)
            self._answers[request] = kept
            self._bytes += len(kept)
            while len(self._answers) > MOST_REMEMBERED or self._bytes > MOST_BYTES:
                self._bytes -= len(self._answers.popitem(last=False)[1])


class Session:
    """One client: the user it belongs to, and what it was answered."""

    def __init__(self, uid: int) -> None:
        self.uid, self.token = uid, os.urandom(32)
        self.remembered = Remembered()
        self.over = False


class Sessions:
    """Knows the clients."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[bytes, Session] = {}

    def begin(self, peer: Peer) -> Session:
        """A session for a client that is new."""
        session = Session(peer.uid)
        with self._lock:
            self._open[session.token] = session
        return session

    def joined(self, token: bytes, peer: Peer) -> Session | None:
        """The session that a connection says it belongs to; `None` where it does not."""
        session = self._open.get(token)
        return session if session is not None and session.uid == peer.uid else None

    def end(self, session: Session) -> None:
        """Forget a session."""
        session.over = True
        with self._lock:
            self._open.pop(session.token, None)

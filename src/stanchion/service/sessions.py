"""Sessions: a client's connections, as long as the one lives that began them. What it leaves behind
ends with it."""

from __future__ import annotations

import hmac
import os
import threading
from collections import Counter
from typing import Final

from stanchion.service.peers import Peer
from stanchion.service.remembered import Remembered

MOST_CONNECTIONS: Final = 64
"""How many connections one user may have."""
MOST_IN_ALL: Final = 512
"""How many there may be together: each has a thread."""


class TurnedAway(Exception):
    """A connection that nobody attends to; the text says why."""


class Session:
    """One client: the user it belongs to, and what it was answered."""

    def __init__(self, uid: int) -> None:
        self.uid, self.token = uid, os.urandom(32)
        self.remembered = Remembered()
        self.over = False


class Sessions:
    """Knows the clients, and how many connections each user has."""

    def __init__(self, most: int = MOST_CONNECTIONS, in_all: int = MOST_IN_ALL) -> None:
        self._most, self._in_all = most, in_all
        self._lock = threading.Lock()
        self._open: dict[bytes, Session] = {}
        self._connections: Counter[int] = Counter()

    def connected(self, peer: Peer) -> None:
        """Count a connection; `TurnedAway` where there is no room for it."""
        with self._lock:
            if self._connections[peer.uid] >= self._most:
                raise TurnedAway(
                    f"user {peer.uid} has {self._most} connections: close some of them first"
                )
            if self._connections.total() >= self._in_all:
                raise TurnedAway(f"there are {self._in_all} connections: try again later")
            self._connections[peer.uid] += 1

    def left(self, peer: Peer) -> None:
        """A connection has ended."""
        with self._lock:
            self._connections[peer.uid] -= 1
            if not self._connections[peer.uid]:
                del self._connections[peer.uid]

    def begin(self, peer: Peer) -> Session:
        """A session for a client that is new."""
        session = Session(peer.uid)
        with self._lock:
            self._open[session.token] = session
        return session

    def joined(self, token: bytes, peer: Peer) -> Session | None:
        """The session that a connection says it belongs to; `None` where it does not."""
        session = self._open.get(token)
        if (
            session is None
            or session.uid != peer.uid
            or not hmac.compare_digest(session.token, token)
        ):
            return None
        return session

    def end(self, session: Session) -> None:
        """Forget a session."""
        session.over = True
        with self._lock:
            self._open.pop(session.token, None)

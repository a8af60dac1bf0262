"""Sessions: a client's connections, as long as the one lives that began them. What it leaves behind
ends with it."""

from __future__ import annotations

import os
import threading

from stanchion.service.peers import Peer
from stanchion.service.remembered import Remembered


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

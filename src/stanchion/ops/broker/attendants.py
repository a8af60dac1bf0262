"""Judging in this process for those who are connected, one thread for each connection."""

from __future__ import annotations

import hmac
import logging
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Final

from stanchion.ops.broker.brokered_runs import BrokeredRuns
from stanchion.ops.broker.connection import Connection, Load, TooMuchUnderWay
from stanchion.ops.broker.passes import Passes
from stanchion.ops.broker.peers import Peer
from stanchion.ops.broker.remote_tool import Gone
from stanchion.ops.broker.requests import Judging
from stanchion.ops.broker.sessions import Session, Sessions
from stanchion.ops.broker.witnesses import Witnesses
from stanchion.runtime.remote.framing import BadFrame, packed
from stanchion.runtime.remote.messages import BUSY, VERSION, Sorry, Welcome
from stanchion.runtime.shield import Shield

LOG: Final = logging.getLogger("stanchion.service")
LAST_S: Final = 5.0
"""How long what is under way may take when the broker stops."""
STOPPING: Final = packed(Sorry("the broker is stopping: try again when it is back"))


class Attendants:
    """Judges for the connections that it is given, and tells `left` of each that has ended."""

    def __init__(
        self, shield: Shield, key: bytes, witnesses: Path | None, left: Callable[[Peer], None]
    ) -> None:
        self._tell_left = left
        if shield.host_secret is None:
            # Its next life goes on with the runs of this one, and knows the same key.
            shield.host_secret = hmac.digest(key, b"host", "sha256").hex()
        self._boot = os.urandom(16).hex()
        self._runs = BrokeredRuns(shield, Passes(key), self._boot)
        self._judging = Judging(shield, self._runs, Witnesses(witnesses))
        self._sessions, self._load = Sessions(), Load()
        self._lock = threading.Lock()
        self._busy: dict[threading.Thread, Connection] = {}
        self._answering: set[threading.Thread] = set()
        self._stopping = False

    def rest(self) -> None:
        """There is nothing to tidy up."""

    def attend(self, sock: socket.socket, peer: Peer) -> None:
        """Answer what comes on a connection, until it ends."""
        thread = threading.Thread(
            target=self._attend, args=(peer,), name="stanchion-client", daemon=True
        )
        connection = Connection(sock, peer.uid, self._load)
        with self._lock:
            self._busy[thread] = connection
        thread.start()

    def _attend(self, peer: Peer) -> None:
        thread = threading.current_thread()
        connection = self._busy[thread]
        began: Session | None = None
        try:
            hello = connection.hello()
            if hello.version != VERSION:
                connection.sorry(
                    f"this broker speaks version {VERSION}, and you speak {hello.version}: update "
                    f"one"
                )
                return
            session = self._sessions.joined(hello.session, peer) if hello.session else None
            if session is None and hello.session:
                connection.sorry("this session no longer exists: start a new one")
                return
            if session is None:
                session = began = self._sessions.begin(peer)
            connection.send(packed(Welcome(VERSION, self._boot, session.token)))
            while True:
                self._answered(connection, peer, session)
        except BadFrame as error:
            connection.sorry(str(error), BUSY if isinstance(error, TooMuchUnderWay) else "")
        except Gone:
            pass
        except Exception:
            LOG.exception("a connection failed")
        finally:
            self._left(thread, connection, peer, began)

    def _answered(self, connection: Connection, peer: Peer, session: Session) -> None:
        """Answer one request, once: the same one again gets the first answer."""
        request = connection.request()
        known = session.remembered.first(request.id)
        if known is not None:
            connection.send(known)
            return
        frame: bytes | None = None
        thread = threading.current_thread()
        with self._lock:
            stopping = self._stopping
            self._answering.add(thread)
        try:
            if stopping:
                frame = STOPPING
            else:
                reply = self._judging.answer(request, peer, session, connection)
                frame = _framed(reply)
        finally:
            session.remembered.answered(request.id, frame)
            with self._lock:
                self._answering.discard(thread)
        connection.send(frame)

    def _left(
        self, thread: threading.Thread, connection: Connection, peer: Peer, began: Session | None
    ) -> None:
        connection.close()
        with self._lock:
            self._busy.pop(thread, None)
            stopping = self._stopping
        if began is not None:
            self._sessions.end(began)
            if not stopping:
                # A broker that stops leaves runs as they are: the next one goes on with them.
                self._runs.session_over(began)
        self._tell_left(peer)

    def finish(self) -> None:
        """Let what is under way end, then hang up; what has not ended by then is left as a crash
        would leave it."""
        until = monotonic() + LAST_S
        with self._lock:
            self._stopping = True
            answering = list(self._answering)
        for thread in answering:
            self._ended(thread, until)
        with self._lock:
            everybody = dict(self._busy)
        for connection in everybody.values():
            connection.hang_up()
        for thread in everybody:
            thread.join(max(0.0, until - monotonic()))

    def _ended(self, thread: threading.Thread, until: float) -> None:
        while thread in self._answering and thread.is_alive() and monotonic() < until:
            thread.join(0.02)


def _framed(reply: object) -> bytes:
    try:
        return packed(reply)  # type: ignore[arg-type]  # a reply is a struct; their union is no subclass
    except BadFrame as error:
        LOG.warning("an answer could not be sent: %s", error)
        return packed(Sorry(f"the answer cannot be sent: {error}"))

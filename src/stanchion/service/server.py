"""The broker: listens on a socket and judges for whoever may ask, one thread for each
connection."""

from __future__ import annotations

import logging
import os
import selectors
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Final

from stanchion.runtime.remote.framing import BadFrame, packed
from stanchion.runtime.remote.messages import VERSION, Sorry, Welcome
from stanchion.runtime.shield import Shield
from stanchion.service.brokered_runs import BrokeredRuns
from stanchion.service.connection import Connection, Load
from stanchion.service.passes import Passes
from stanchion.service.peers import Admission, Peer, peer_of
from stanchion.service.remote_tool import Gone
from stanchion.service.requests import Judging
from stanchion.service.sessions import Session, Sessions, TurnedAway
from stanchion.service.witnesses import Witnesses

LOG: Final = logging.getLogger("stanchion.service")
AGAIN_S: Final = 0.1
"""How long it rests where it cannot accept a connection, because too many files are open for
example."""
LAST_S: Final = 5.0
"""How long what is under way may take when the broker stops."""

OWN_USER: Final = (
    "the broker runs as the same user as the agent, so it protects nothing from the "
    "agent: run it as another user"
)
STOPPING: Final = packed(Sorry("the broker is stopping: try again when it is back"))


class Broker:
    """Judges for its clients, with a shield that none of them can reach."""

    def __init__(
        self,
        shield: Shield,
        admission: Admission,
        key: bytes,
        warn: Callable[[str], None] = LOG.warning,
        sessions: Sessions | None = None,
        witnesses: Path | None = None,
    ) -> None:
        self._shield, self._admission, self._warn = shield, admission, warn
        self.boot = os.urandom(16).hex()
        self._runs = BrokeredRuns(shield, Passes(key), self.boot)
        self._judging = Judging(shield, self._runs, Witnesses(witnesses))
        self._sessions = Sessions() if sessions is None else sessions
        self._load = Load()
        self._lock = threading.Lock()
        self._busy: dict[threading.Thread, Connection] = {}
        self._answering: set[threading.Thread] = set()
        self._stopping = False
        self._warned: set[int] = set()
        self._wake, self._woken = socket.socketpair()
        self._woken.setblocking(False)

    def serve(self, listener: socket.socket) -> None:
        """Serve until `stop`; then what is under way gets a moment to end."""
        with selectors.DefaultSelector() as selector:
            selector.register(listener, selectors.EVENT_READ)
            selector.register(self._wake, selectors.EVENT_READ)
            while not self._stopping:
                for ready, _ in selector.select():
                    if ready.fileobj is listener:
                        self._accept(listener)
        self._finish()

    @property
    def wakes_by(self) -> int:
        """The descriptor that wakes `serve` when something is written to it."""
        return self._woken.fileno()

    def stop(self) -> None:
        """Have `serve` come to its end; may be called from a signal's handler."""
        self._stopping = True
        try:
            self._woken.send(b"\0")
        except OSError:
            return

    def _accept(self, listener: socket.socket) -> None:
        try:
            sock, _ = listener.accept()
        except OSError as error:
            LOG.warning("a connection could not be accepted: %s", error)
            sleep(AGAIN_S)
            return
        try:
            peer = self._admitted(sock)
            self._sessions.connected(peer)
        except (TurnedAway, OSError) as turned_away:
            _turn_away(sock, str(turned_away))
            return
        thread = threading.Thread(
            target=self._attend, args=(peer,), name="stanchion-client", daemon=True
        )
        connection = Connection(sock, peer.uid, self._load)
        with self._lock:
            self._busy[thread] = connection
        thread.start()

    def _admitted(self, sock: socket.socket) -> Peer:
        peer = peer_of(sock)
        tenant = self._admission.tenant_of(peer)
        if tenant is None:
            raise TurnedAway(f"this broker does not work for user {peer.uid}")
        if peer.uid == os.geteuid() and peer.uid not in self._warned:
            self._warned.add(peer.uid)
            self._warn(OWN_USER)
        return peer._replace(tenant=tenant)

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
            connection.send(packed(Welcome(VERSION, self.boot, session.token)))
            while True:
                self._answered(connection, peer, session)
        except BadFrame as error:
            connection.sorry(str(error))
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
        self._sessions.left(peer)
        with self._lock:
            self._busy.pop(thread, None)
            stopping = self._stopping
        if began is not None:
            self._sessions.end(began)
            if not stopping:
                # A broker that stops leaves runs as they are: the next one goes on with them.
                self._runs.session_over(began)

    def _finish(self) -> None:
        """Let what is under way end, then hang up; what has not ended by then is left as a crash
        would leave it."""
        until = monotonic() + LAST_S
        with self._lock:
            answering = list(self._answering)
        for thread in answering:
            self._ended(thread, until)
        with self._lock:
            everybody = dict(self._busy)
        for connection in everybody.values():
            connection.hang_up()
        for thread in everybody:
            thread.join(max(0.0, until - monotonic()))
        self._wake.close()
        self._woken.close()

    def _ended(self, thread: threading.Thread, until: float) -> None:
        while thread in self._answering and thread.is_alive() and monotonic() < until:
            thread.join(0.02)


def _framed(reply: object) -> bytes:
    try:
        return packed(reply)  # type: ignore[arg-type]  # a reply is a struct; their union is no subclass
    except BadFrame as error:
        LOG.warning("an answer could not be sent: %s", error)
        return packed(Sorry(f"the answer cannot be sent: {error}"))


def _turn_away(sock: socket.socket, why: str) -> None:
    """Say why, without ever waiting for somebody who does not listen."""
    try:
        sock.setblocking(False)
        sock.send(packed(Sorry(why)))
    except OSError:
        pass
    finally:
        sock.close()

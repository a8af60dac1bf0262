"""The broker: listens on a socket, takes in whoever may ask, and has each judged for."""

from __future__ import annotations

import logging
import os
import selectors
import socket
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import sleep
from typing import Final

from stanchion.ops.broker.peers import Admission, Peer, peer_of
from stanchion.ops.broker.user_processes import IDLE_S, Attendants, UserProcesses
from stanchion.runtime.remote.broker_link import packed
from stanchion.runtime.remote.messages import BUSY, Sorry
from stanchion.runtime.shield import Shield

# How many connections each user and each tenant may have, so that there is one left for everybody
# else.

OF_USER: Final = 64
OF_TENANT: Final = 1_024
IN_ALL: Final = 8_192
"""How many connections one user may have, the users of one tenant together, and everybody."""


class TurnedAway(Exception):
    """A connection that nobody attends to; the text says why, and `code` whether it may come
    again."""

    def __init__(self, why: str, code: str = BUSY) -> None:
        super().__init__(why)
        self.code = code


class ConnectionPlaces:
    """Counts the connections. Safe between threads."""

    def __init__(
        self, of_user: int = OF_USER, of_tenant: int = OF_TENANT, in_all: int = IN_ALL
    ) -> None:
        self._limits = (of_user, of_tenant, in_all)
        self._lock = threading.Lock()
        self._taken: Counter[str] = Counter()

    def take(self, peer: Peer) -> None:
        """Take a place for a connection; `TurnedAway` where there is none."""
        with self._lock:
            for who, limit in zip(_counted(peer), self._limits, strict=True):
                if self._taken[who] >= limit:
                    raise TurnedAway(f"{who} has {limit} connections: close some of them first")
            self._taken.update(_counted(peer))

    def leave(self, peer: Peer) -> None:
        """A connection has ended."""
        with self._lock:
            self._taken -= Counter(_counted(peer))


def _counted(peer: Peer) -> tuple[str, str, str]:
    return f"user {peer.uid}", f"tenant `{peer.tenant}`", "this broker"


LOG: Final = logging.getLogger("stanchion.service")
AGAIN_S: Final = 0.1
"""How long it rests where it cannot accept a connection, because too many files are open for
example."""

OWN_USER: Final = (
    "the broker runs as the same user as the agent, so it protects nothing from the "
    "agent: run it as another user"
)


class Broker:
    """Judges for its clients, with a shield that none of them can reach.

    With `apart` each user is judged for in a process of its own, forked from this one: the system
    then shares processor time between users, and what one of them fills or breaks is none of the
    others'. Without it everybody is judged for in threads of this process.
    """

    def __init__(
        self,
        shield: Shield,
        admission: Admission,
        key: bytes,
        warn: Callable[[str], None] = LOG.warning,
        places: ConnectionPlaces | None = None,
        witnesses: Path | None = None,
        apart: bool = False,
    ) -> None:
        self._admission, self._warn = admission, warn
        self._places = ConnectionPlaces() if places is None else places
        self._stopping = False
        self._warned: set[int] = set()
        self._wake, self._woken = socket.socketpair()
        self._woken.setblocking(False)
        self._selector = selectors.DefaultSelector()

        def attendants(left: Callable[[Peer], None]) -> Attendants:
            return Attendants(shield, key, witnesses, left)

        self._judges = (
            UserProcesses(shield, attendants, self._places.leave, self._selector)
            if apart
            else attendants(self._places.leave)
        )

    def serve(self, listener: socket.socket) -> None:
        """Serve until `stop`; then what is under way gets a moment to end."""
        with self._selector as selector:
            selector.register(listener, selectors.EVENT_READ, lambda: self._accept(listener))
            selector.register(self._wake, selectors.EVENT_READ, lambda: None)
            while not self._stopping:
                for ready, _ in selector.select(IDLE_S):
                    ready.data()
                self._judges.rest()
            self._judges.finish()
        self._wake.close()
        self._woken.close()

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
            self._places.take(peer)
        except (TurnedAway, OSError) as turned_away:
            _turn_away(sock, turned_away)
            return
        try:
            self._judges.attend(sock, peer)
        except OSError as error:
            self._places.leave(peer)
            LOG.warning("a connection of user %s cannot be judged for: %s", peer.uid, error)
            _turn_away(sock, error)

    def _admitted(self, sock: socket.socket) -> Peer:
        peer = peer_of(sock)
        tenant = self._admission.tenant_of(peer)
        if tenant is None:
            raise TurnedAway(f"this broker does not work for user {peer.uid}", "")
        if peer.uid == os.geteuid() and peer.uid not in self._warned:
            self._warned.add(peer.uid)
            self._warn(OWN_USER)
        return peer._replace(tenant=tenant)


def _turn_away(sock: socket.socket, why: Exception) -> None:
    """Say why, without ever waiting for somebody who does not listen."""
    try:
        sock.setblocking(False)
        sock.send(packed(Sorry(str(why), getattr(why, "code", BUSY))))
    except OSError:
        pass
    finally:
        sock.close()

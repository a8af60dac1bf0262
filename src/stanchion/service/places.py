"""How many connections each user and each tenant may have, so that there is one left for everybody
else."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Final

from stanchion.runtime.remote.messages import BUSY
from stanchion.service.peers import Peer

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

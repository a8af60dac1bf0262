"""Ports for servers that tests start: kept for them from the moment they are chosen."""

import socket
import sys
from typing import Final

_REDIS_CLUSTER: Final = 55_000
"""Below it there is room for the port of a cluster, which is 10,000 above."""


class Port:
    """A port of this computer that nobody else is given for as long as it is held.

    A socket keeps it that does not listen: whoever connects is refused, and a server that may use
    an address again, as Redis and PostgreSQL do, can be started on it, stopped, and started once
    more.
    """

    def __init__(self) -> None:
        while True:
            self._held = socket.socket()
            if sys.platform != "win32":
                self._held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._held.bind(("127.0.0.1", 0))
            self.number: int = self._held.getsockname()[1]
            if self.number < _REDIS_CLUSTER:
                return
            self._held.close()

    def release(self) -> None:
        """Let others have it."""
        self._held.close()

"""A process that stands by: it has built its walls before anybody asks, runs one command behind
them, and ends."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from collections.abc import Callable
from typing import NamedTuple

from stanchion.runtime.sandbox.keeping import alone, bubblewrap, namespaces
from stanchion.runtime.sandbox.keeping.ground import NO_WALL, Ended, Ground, awaited, tell


class Kind(NamedTuple):
    """A kind of walls: what a process does that stands by, and the signal that ends it with all of
    its command."""

    stand: Callable[[Ground, bool, socket.socket], None]
    ends_by: signal.Signals


KINDS = {
    "namespaces": Kind(namespaces.stand, signal.SIGKILL),
    "bubblewrap": Kind(bubblewrap.stand, signal.SIGKILL),
    "landlock": Kind(alone.stand, signal.SIGTERM),
}


def stand_by(ground: Ground, write: bool, line: socket.socket) -> None:
    """Build walls, run one command, tell its end; never comes back. Walls that cannot be built are
    told to whoever asks."""
    try:
        KINDS[ground.kind].stand(ground, write, line)
    except Ended:
        pass
    except BaseException as error:  # noqa: BLE001 - whatever it is, this process must not go on as the keeper
        # A kind closes the line as soon as it knows its command: then it is too late to say that
        # nothing ran.
        with contextlib.suppress(OSError, Ended):
            tell(awaited(line).status, error=NO_WALL, why=str(error))
    os._exit(0)

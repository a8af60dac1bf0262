"""A process that stands by: it has built its walls before anybody asks, runs one command behind them, and ends."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from typing import NamedTuple

from stanchion.runtime.sandbox.keeping import alone, bubblewrap, namespaces
from stanchion.runtime.sandbox.keeping.ground import NO_WALL, Ended, Ground, Lines, awaited, tell


class Kind(NamedTuple):
    """A kind of walls: what a process does that stands by, and the signal that ends it with all of its command."""

    stand: Callable[[Ground, bool, Lines], None]
    ends_by: signal.Signals


KINDS = {
    "namespaces": Kind(namespaces.stand, signal.SIGKILL),
    "bubblewrap": Kind(bubblewrap.stand, signal.SIGKILL),
    "landlock": Kind(alone.stand, signal.SIGTERM),
}


def stand_by(ground: Ground, write: bool, lines: Lines) -> None:
    """Build walls, run one command, tell its end; never comes back. Walls that cannot be built are told to whoever
    asks."""
    # A kind closes the line over which its end is told as soon as it has got there: then it is too late to refuse.
    try:
        KINDS[ground.kind].stand(ground, write, lines)
    except Ended:
        pass
    except BaseException as error:  # noqa: BLE001 - whatever it is, this process must not go on as the keeper
        with contextlib.suppress(OSError, Ended):
            tell(awaited(lines.status, 1)[0], error=NO_WALL, why=str(error))
    os._exit(0)

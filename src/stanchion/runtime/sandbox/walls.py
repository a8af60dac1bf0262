"""Walls, and the kinds of them: what each holds, which are needed, and what could be built here."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Wall(StrEnum):
    """Something that a command cannot do."""

    FILES = "files"
    UNSEEN = "unseen"
    NETWORK = "network"
    IPC = "ipc"
    PROCESSES = "processes"
    LEFTOVERS = "leftovers"
    USER = "user"
    PRIVILEGES = "privileges"
    LIMITS = "limits"
    TMP = "tmp"
    CHILDREN = "children"
    LANDLOCK = "landlock"
    CALLS = "calls"


class Kind(StrEnum):
    """What walls are made of; the strongest first."""

    NAMESPACES = "namespaces"
    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"


MEANING: Final = {
    Wall.FILES: "no file is read or written outside its folder and what is shown to it",
    Wall.UNSEEN: "other files are not there: neither their names nor their sizes can be found out",
    Wall.NETWORK: "no connection, in no protocol",
    Wall.IPC: "no sockets, shared memory or queues of other processes",
    Wall.PROCESSES: "no other process can be signalled, traced or looked at",
    Wall.LEFTOVERS: "nothing that it has started outlives it",
    Wall.USER: "it is a user of its own, who owns nothing on the system",
    Wall.PRIVILEGES: "no rights are gained, not by set-user-id programs either",
    Wall.LIMITS: "time, memory, output and the size of a file are bounded",
    Wall.TMP: "`/tmp` is its own, and bounded",
    Wall.CHILDREN: "how many processes it starts is bounded",
    Wall.LANDLOCK: "Landlock as a second wall round files",
    Wall.CALLS: (
        "no sockets, keys, uncounted memory or set-user-id files: a filter refuses these "
        "calls of the kernel"
    ),
}
"""What each wall means for a command."""

_BOTH: Final = frozenset(Wall) - {Wall.LANDLOCK}
HOLDS: Final = {
    Kind.NAMESPACES: _BOTH,
    Kind.BUBBLEWRAP: _BOTH,
    Kind.LANDLOCK: frozenset(Wall) - {Wall.UNSEEN, Wall.USER, Wall.TMP},
}
"""What each kind holds wherever it stands; Landlock on kernels from 6.12. Namespaces may have
more."""
REQUIRED: Final = _BOTH
"""The walls without which nothing runs, unless whoever makes a sandbox says otherwise."""

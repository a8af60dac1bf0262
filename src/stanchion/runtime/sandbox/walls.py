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

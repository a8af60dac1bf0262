"""The registry of what this process has open on one file of SQLite. Links to a file that was
removed are closed before another is opened, for SQLite would give both one index of its log."""

from __future__ import annotations

import os
import time
import weakref
from pathlib import Path
from typing import Final, Protocol

from stanchion.locks import Attempt, Lock
from stanchion.stores.protocol import StoreError
from stanchion.stores.sqlite.troubles import locked

STEP_S: Final = 0.01


class Sibling(Protocol):
    """A link as the others see it."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def lock(self) -> Lock:
        """Who has it uses the link."""

    @property
    def is_left(self) -> bool:
        """Whether the files that it has open are no longer those at their paths."""

    def let_go(self) -> None:
        """Close the connection."""


_links: Final[weakref.WeakSet[Sibling]] = weakref.WeakSet()
_opening = Lock()


def watch(link: Sibling) -> None:
    """Have others close a link's connection where its files were removed, for as long as the link
    lives."""
    _links.add(link)


def alone(wait_s: float) -> Attempt:
    """The lock under which a file is opened, while nobody else in this process does; says whether
    it is held in time. Who waits here has no connection, so that nobody waits for him."""
    return _opening.within(wait_s)


def clear(link: Sibling, wait_s: float) -> None:
    """Have nobody else in this process keep removed files of the same store open; `StoreError`
    where somebody does not let go in time."""
    deadline = time.monotonic() + wait_s
    for other in list(_links):
        while other is not link and other.path == link.path and other.is_left:
            with other.lock.within(STEP_S) as held:
                if held and other.is_left:
                    other.let_go()
            if not held and time.monotonic() >= deadline:
                raise StoreError(locked(link.path, wait_s))


def _after_fork() -> None:
    global _opening
    _opening = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

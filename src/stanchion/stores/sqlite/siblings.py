"""The links of one process to one file. SQLite gives all of them the same index of the log, also where that was removed
since: so none is opened before those on removed files are closed."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

from stanchion.stores.protocol import StoreError
from stanchion.stores.sqlite.troubles import locked

STEP_S: Final = 0.01


class Sibling(Protocol):
    """A link as the others see it."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def lock(self) -> threading.Lock:
        """Who has it uses the link."""

    @property
    def is_left(self) -> bool:
        """Whether the files that it has open are no longer those at their paths."""

    def let_go(self) -> None:
        """Close the connection."""


_links: Final[weakref.WeakSet[Sibling]] = weakref.WeakSet()
_opening = threading.Lock()


def watch(link: Sibling) -> None:
    """Have others close a link's connection where its files were removed, for as long as the link lives."""
    _links.add(link)


@contextmanager
def alone(link: Sibling, wait_s: float) -> Iterator[None]:
    """Open a file while nobody else in this process does, and nobody has removed files of it open; `StoreError` where
    somebody does not let go in time. Who waits here has no connection, so that nobody waits for him."""
    deadline = time.monotonic() + wait_s
    if not _opening.acquire(timeout=wait_s):
        raise StoreError(locked(link.path, wait_s))
    try:
        for other in list(_links):
            while other is not link and other.path == link.path and other.is_left:
                if other.lock.acquire(timeout=STEP_S):
                    try:
                        if other.is_left:
                            other.let_go()
                    finally:
                        other.lock.release()
                elif time.monotonic() >= deadline:
                    raise StoreError(locked(link.path, wait_s))
        yield
    finally:
        _opening.release()


def _after_fork() -> None:
    global _opening
    _opening = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

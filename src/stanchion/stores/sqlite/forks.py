"""Forks: SQLite must not be carried into a child, so every connection is closed before one and
opened again after."""

from __future__ import annotations

import os
import weakref
from functools import cache
from typing import Final, Protocol


class Forkable(Protocol):
    """What can stand still while the process forks."""

    def before_fork(self) -> None:
        """Finish what is under way and close the connection, where that can be."""

    def after_fork(self) -> None:
        """Go on, in the parent and in the child, whether or not it stood still."""


_open: Final[weakref.WeakSet[Forkable]] = weakref.WeakSet()
_still: Final[list[Forkable]] = []


def watch(store: Forkable) -> None:
    """Close a store's connection at every fork from now on, for as long as the store lives."""
    _open.add(store)
    _register()


@cache
def _register() -> None:
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)


def _before() -> None:
    for store in list(_open):
        _still.append(store)  # first: who is cut off after that goes on as well
        store.before_fork()


def _after() -> None:
    while _still:
        _still[-1].after_fork()
        _still.pop()

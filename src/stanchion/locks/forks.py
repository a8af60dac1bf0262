"""Forks: what a process has open is not its child's."""

from __future__ import annotations

import os
from typing import Protocol
from weakref import ref


class Forks(Protocol):
    """Has something open that a forked process may not use."""

    def forked(self) -> None:
        """Let go of it, in the forked process."""


_known: set[ref[Forks]] = set()
"""Those who are told, each as long as somebody else keeps it. Every run is one of them: a set that
lets go of them by itself is several times as quick as a `WeakSet`."""
_forks = 0


def forks() -> int:
    """How often this process has forked, with those that it was forked from."""
    return _forks


def tell_of_forks(one: Forks) -> None:
    """Have it told, in a forked process, that it is in one."""
    _known.add(ref(one, _known.discard))


def _after_fork() -> None:
    _count()
    for known in list(_known):
        one = known()
        if one is not None:
            one.forked()


def _count() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_parent=_count, after_in_child=_after_fork)

"""Watching a measurement: whoever started it hears how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, TypeVar

T = TypeVar("T")

Told = Callable[[int, int], None]
"""Hears how many rows are done, of how many."""

_TOLD: Final[ContextVar[Told | None]] = ContextVar("told", default=None)


@contextmanager
def watched(told: Told | None) -> Iterator[None]:
    """Let `told` hear of everything that is measured meanwhile."""
    before = _TOLD.set(told)
    try:
        yield
    finally:
        _TOLD.reset(before)


def each(things: Sequence[T]) -> Iterator[T]:
    """The same things one by one, and whoever watches is told how many are done."""
    told = _TOLD.get()
    for at, one in enumerate(things):
        if told is not None:
            told(at, len(things))
        yield one

"""Setting a context variable for a while."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Generic, TypeVar

T = TypeVar("T")


class setting(Generic[T]):  # noqa: N801 - it is used like a function
    """Inside, a context variable has this value; then it has the one from before again. That is
    set, not reset: a generator may be closed in another context than the one it was begun in."""

    __slots__ = ("_before", "_value", "_var")

    def __init__(self, var: ContextVar[T], value: T) -> None:
        self._var, self._value = var, value

    def __enter__(self) -> None:
        self._before = self._var.get()
        self._var.set(self._value)

    def __exit__(self, *_error: object) -> None:
        self._var.set(self._before)

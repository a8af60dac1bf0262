"""A property that is computed once for each object, without the lock that the standard one
takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """Computes a value when it is first asked for and leaves it in the object's dictionary."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute = compute
        self.name = compute.__name__
        self.__doc__ = compute.__doc__

    def __get__(self, owner: Any, kind: Any = None) -> T:
        value = self.compute(owner)
        owner.__dict__[self.name] = value
        return value

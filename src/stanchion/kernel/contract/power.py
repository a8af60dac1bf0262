"""A power: something that a guard can do, known by one of its members."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, TypeVar

P = TypeVar("P", covariant=True)


class Power(Generic[P]):
    """A protocol that a guard may speak. Who has the member `sign` has the power, and then all that
    belongs to it."""

    __slots__ = ("protocol", "sign")

    def __init__(self, sign: str, protocol: str) -> None:
        self.sign = sign
        self.protocol = protocol
        """Where the protocol stands: its module in this package, and its name."""

    def of(self, guard: Any) -> P | None:
        """The guard as one that has this power; `None` where it has not. A flag that is off, and
        what is `None`, is as good as not there."""
        found = getattr(guard, self.sign, None)
        if found is None or found is False:
            return None
        having: P = guard
        return having

    def among(self, guards: Iterable[Any]) -> list[P]:
        """Those of some guards that have it, in their order."""
        found = [self.of(guard) for guard in guards]
        return [one for one in found if one is not None]

"""The reader: what a policy brings to every event that is read under it."""

from __future__ import annotations

from typing import Final, TypeVar

from stanchion.readings.reading import Reading

E = TypeVar("E")


class Reader:
    """Reads events for one policy. It remembers nothing of them."""

    __slots__ = ()

    def read(self, event: E) -> Reading[E]:
        """The reading of an event; nothing of it is worked out yet."""
        return Reading(event, self)


PLAIN: Final = Reader()


def read(event: E) -> Reading[E]:
    """The reading of an event under no policy."""
    return Reading(event, PLAIN)

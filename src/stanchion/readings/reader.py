"""The reader: what a policy brings to every event that is read under it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from stanchion.kernel.sizes import LIMITS, Limits
from stanchion.readings.reading import Reading

if TYPE_CHECKING:
    from stanchion.readings.scan.hyper import Kept
    from stanchion.readings.scan.scanner import Hits
    from stanchion.readings.scan.seek import Seek
    from stanchion.readings.scan.together import Together

E = TypeVar("E")


class Reader:
    """Reads events for one policy, whose guards seek something in texts. It remembers nothing of
    them."""

    __slots__ = ("_together", "limits", "read")

    read: Callable[[Any], Reading[Any]]
    """Gives the reading of an event; nothing of it is worked out yet."""

    limits: Limits
    """How much of an event is read before it is refused unread."""

    def __init__(self, seeks: Iterable[Seek] = (), limits: Limits = LIMITS) -> None:
        self._together = _together(tuple(seeks))
        self.limits = limits
        self.read = partial(Reading, reader=self)

    def prepare(self, kept: Kept) -> None:
        """Compile what is sought, or take it from where it is kept, so that no event has to wait
        for it."""
        if self._together is not None:
            self._together.use(kept)

    def hits(self, reading: Reading[Any], seek: Seek) -> Hits | None:
        """Where the patterns of one who seeks are in the texts of an event. All that the policy
        seeks is found in one scan; others are looked for alone."""
        together = self._together
        if together is not None and seek in together:
            return together.of(seek, reading.of(together.scan))
        return seek.scanner.scan_joined(reading.joined, self.limits.matches_a_kb)


def _together(seeks: tuple[Seek, ...]) -> Together | None:
    """One scan for all who seek; where nobody does, what scans is not even loaded."""
    if not seeks:
        return None
    from stanchion.readings.scan.together import Together

    return Together(seeks)


PLAIN: Final = Reader()


def read(event: E) -> Reading[E]:
    """The reading of an event under no policy."""
    return Reading(event, PLAIN)

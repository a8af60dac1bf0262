"""Occurrences: what whoever looks after a fleet has to hear of. Whoever tells one neither waits nor
fails."""

from __future__ import annotations

import os
from collections.abc import Callable
from time import monotonic
from typing import Final

from msgspec.structs import replace

from stanchion.kernel.shown import visible
from stanchion.locks import Lock
from stanchion.telemetry.kinds import Kind, Occurrence
from stanchion.telemetry.repeats import Repeats

__all__ = ["Kind", "Listener", "Occurrence", "Occurrences"]

MOST_TEXT: Final = 2_000
MOST_NAME: Final = 300
"""How long the words and the names of an occurrence are at most."""

_NAMES: Final = ("about", "tenant", "run", "agent", "tool", "ticket", "decision")

Listener = Callable[[Occurrence], None]


class Occurrences:
    """Hands occurrences on to whoever listens. Those that repeat are counted, and told again with
    their number.

    Listeners are called in the thread that tells, so they have to be quick; what they raise is
    counted and no more.
    """

    def __init__(self, now_s: Callable[[], float] = monotonic) -> None:
        self._now_s = now_s
        self._lock = Lock()
        self._repeats = Repeats()
        self._each: tuple[Listener, ...] = ()
        self._listeners: tuple[Listener, ...] = ()
        self._ends: tuple[Callable[[], None], ...] = ()
        self.open: frozenset[Kind] = frozenset()
        """The kinds of trouble that last right now."""
        self.failed = 0
        """How often a listener has failed."""

    def subscribe(
        self, listener: Listener, each: bool = False, end: Callable[[], None] | None = None
    ) -> None:
        """Have somebody hear of what occurs; with `each` of every single one, before repeated ones
        are counted. `end` is called when nothing occurs any more, that of whoever came last
        first."""
        with self._lock:
            if end is not None:
                self._ends = (end, *self._ends)
            if each:
                self._each = (*self._each, listener)
            else:
                self._listeners = (*self._listeners, listener)

    def mute(self) -> None:
        """Have nobody hear of what occurs: it is only tried out."""
        with self._lock:
            self._each = self._listeners = ()

    def tell(self, one: Occurrence) -> None:
        """Tell what has occurred."""
        try:
            one = _bounded(one)
            self._hand(self._each, one)
            with self._lock:
                now = self._now_s()
                told = (*self._repeats.due(now), *self._repeats.heard(one, now))
                self._note()
            self._told(told)
        except Exception:  # noqa: BLE001 - a decision never fails because of what is told beside it
            self.failed += 1

    def remind(self) -> None:
        """Tell how often what was told before has occurred since, where it is time to."""
        with self._lock:
            told = self._repeats.due(self._now_s())
            self._note()
        self._told(told)

    def close(self) -> None:
        """Tell the numbers that were not told yet, and let go of whoever listens."""
        with self._lock:
            told = self._repeats.rest()
            ends, self._ends = self._ends, ()
        self._told(told)
        for end in ends:
            end()

    def _note(self) -> None:
        lasting = self._repeats.lasting()
        if lasting != self.open:
            self.open = lasting

    def _told(self, several: tuple[Occurrence, ...]) -> None:
        for one in several:
            self._hand(self._listeners, one if one.id else replace(one, id=new_id()))

    def _hand(self, listeners: tuple[Listener, ...], one: Occurrence) -> None:
        for listener in listeners:
            try:
                listener(one)
            except Exception:  # noqa: BLE001 - the others hear of it all the same
                self.failed += 1


def new_id() -> str:
    """An id that no other occurrence has."""
    return f"msg_{os.urandom(12).hex()}"


def _bounded(one: Occurrence) -> Occurrence:
    """An occurrence as it can be shown anywhere: nothing unseen in it, and nothing endless."""
    names = {name: _cut(getattr(one, name), MOST_NAME) for name in _NAMES if getattr(one, name)}
    return replace(one, text=_cut(one.text, MOST_TEXT), **names)


def _cut(text: str, most: int) -> str:
    text = visible(text[: most + 1])
    return text if len(text) <= most else text[: most - 1] + "…"

"""Occurrences: what whoever looks after a fleet has to hear of. Whoever tells one neither waits nor
fails."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable
from time import monotonic
from typing import Final

from msgspec.structs import replace

from stanchion.kernel.shown import visible
from stanchion.locks import Lock
from stanchion.telemetry.kinds import COUNTED, ENDS, LASTING, WORDED, Kind, Occurrence

# Repeated occurrences: told once, then as a number ever more rarely, then that it is over.

FIRST_S: Final = 60.0
LONGEST_S: Final = 21_600.0
"""How long repeated ones are only counted: at first, and at most. Each time it is twice as long as
before."""
RETURNING_S: Final = 1_800.0
"""The same for trouble that is over and comes back."""
MOST: Final = 1_000
"""How many are remembered. Of the one that is forgotten, the number is told."""

_Key = tuple[Kind, str, str]


class _Seen:
    """What was told of something, and how often it has occurred since."""

    def __init__(self, one: Occurrence, now_s: float) -> None:
        self.last = one
        self.since = self.told_at = one.at
        self.total, self.count, self.returns = 1, 0, 0
        self.told_s, self.pause_s = now_s, FIRST_S
        self.end_of: Occurrence | None = None
        self.is_known = True

    @property
    def is_over(self) -> bool:
        """Whether its end has occurred, and nothing of it since."""
        return self.end_of is not None

    def repeat(self, one: Occurrence) -> None:
        """It has occurred once more."""
        if self.is_over:
            self.since, self.total, self.end_of = one.at, 0, None
            self.returns += 1
        self.last = one
        self.count += 1
        self.total += 1

    def tell(self, now_s: float) -> Occurrence:
        """What is told of it now: the last one, or that it is over, and how often it has occurred
        since it was told before."""
        one = self.last if self.end_of is None else self.end_of
        if self.count > 1:
            one = replace(one, times=self.count, since=self.told_at)
        self.told_at, self.told_s, self.count = self.last.at, now_s, 0
        self.pause_s = min(self.pause_s * 2, LONGEST_S)
        self.is_known = not self.is_over
        return one

    def end(self, one: Occurrence, now_s: float) -> tuple[Occurrence, ...]:
        """It is over: that is told to whoever knows that it began. What comes and goes is told ever
        more rarely."""
        self.end_of = one
        if not self.is_known:
            return ()
        self.is_known, self.count = False, 0
        self.told_at, self.told_s = one.at, now_s
        self.pause_s = min(FIRST_S * 2 ** min(self.returns, 10), RETURNING_S)
        return (replace(one, times=self.total, since=self.since),)


class Repeats:
    """Decides what of all that occurs is told. It reads no clock: each method is given the time."""

    def __init__(self, most: int = MOST) -> None:
        self._seen: OrderedDict[_Key, _Seen] = OrderedDict()
        self._most = most

    def heard(self, one: Occurrence, now_s: float) -> tuple[Occurrence, ...]:
        """What is told where something occurs."""
        if one.kind in ENDS:
            return self._ended(one, now_s)
        if one.kind not in COUNTED:
            return (one,)
        key = (one.kind, one.tenant, one.about)
        seen = self._seen.get(key)
        if seen is None:
            forgotten = self._make_room(now_s)
            self._seen[key] = _Seen(one, now_s)
            return (*forgotten, one)
        anew = one.kind in WORDED and one.text != seen.last.text
        seen.repeat(one)
        return (seen.tell(now_s),) if anew or now_s - seen.told_s >= seen.pause_s else ()

    def due(self, now_s: float) -> tuple[Occurrence, ...]:
        """What is told because nobody has heard of it for long enough; what is over and told is
        forgotten then."""
        told = []
        for key, seen in [*self._seen.items()]:
            if now_s - seen.told_s < seen.pause_s:
                continue
            if seen.count:
                told.append(seen.tell(now_s))
            elif seen.is_over or key[0] not in LASTING:
                del self._seen[key]
        return tuple(told)

    def rest(self) -> tuple[Occurrence, ...]:
        """What was counted and not told."""
        return tuple([seen.tell(seen.told_s) for seen in self._seen.values() if seen.count])

    def lasting(self) -> frozenset[Kind]:
        """The kinds of trouble that are not over."""
        return frozenset(
            [key[0] for key, seen in self._seen.items() if key[0] in LASTING and not seen.is_over]
        )

    def _ended(self, one: Occurrence, now_s: float) -> tuple[Occurrence, ...]:
        seen = self._seen.get((ENDS[one.kind], one.tenant, one.about))
        return () if seen is None or seen.is_over else seen.end(one, now_s)

    def _make_room(self, now_s: float) -> tuple[Occurrence, ...]:
        if len(self._seen) < self._most:
            return ()
        _, oldest = self._seen.popitem(last=False)
        return (oldest.tell(now_s),) if oldest.count else ()


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

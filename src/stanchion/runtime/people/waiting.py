"""Waiting for an answer in the process that gives it: whoever waits is woken instead of looking
again."""

from __future__ import annotations

from stanchion.locks import Lock
from stanchion.runtime.driving.turns import LineWaiter


class AnswerWaiters:
    """Who waits for which ticket, in this process. Waking is a courtesy: what counts is what the
    store says."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._places: dict[str, list[LineWaiter]] = {}

    def join(self, key: str) -> LineWaiter:
        """A place that is called when the ticket is answered."""
        place = LineWaiter()
        with self._lock:
            self._places.setdefault(key, []).append(place)
        return place

    def leave(self, key: str, place: LineWaiter) -> None:
        """Wait no longer."""
        with self._lock:
            places = [one for one in self._places.get(key, ()) if one is not place]
            if places:
                self._places[key] = places
            else:
                self._places.pop(key, None)

    def wake(self, key: str) -> None:
        """Tell everybody who waits for a ticket to look at it."""
        with self._lock:
            places = self._places.pop(key, [])
        for place in places:
            place.call()

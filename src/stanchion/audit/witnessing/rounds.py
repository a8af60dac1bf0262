"""Writing the heads of a trail to a place, again and again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from stanchion.audit.witnessing.place import WitnessEntry, WitnessPlace, number_in

FIRST_S: Final = 1.0
MOST_S: Final = 60.0

HeadsOf = Callable[[], Mapping[str, bytes]]
"""Gives the head of each chain as it stands in its file."""


class Round(NamedTuple):
    """What one line says: how many chains there are, how many heads had changed, and what is
    odd."""

    at_ms: int
    chains: int
    changed: int
    odd: tuple[str, ...]


class Writer:
    """Writes a line a time: first all heads, then those that have changed, and where none has that
    it is alive."""

    def __init__(
        self, heads: HeadsOf, place: WitnessPlace, every_s: int, clock: Callable[[], int]
    ) -> None:
        self._heads, self._place, self._every_s, self._clock = heads, place, every_s, clock
        self._known: dict[str, bytes] = {}
        self._mine = b""

    def write(self) -> Round:
        """Write one line; raises `Unreachable`, and what is not written then is in the next one."""
        heads = {name: head for name, head in self._heads().items() if number_in(head) is not None}
        changed = {name: head for name, head in heads.items() if self._known.get(name) != head}
        odd = tuple(_gone_back(self._known, heads))
        at_ms = self._clock()
        entry = WitnessEntry(tuple(changed.values()), at_ms, self._every_s, self._mine)
        written = self._place.append(entry)
        self._mine, self._known = written.line, self._known | heads
        return Round(
            at_ms, len(heads), len(changed), (*odd, *([written.note] if written.note else []))
        )


def _gone_back(known: Mapping[str, bytes], heads: Mapping[str, bytes]) -> list[str]:
    """What a witness sees at once: chains that are gone, or are shorter than they were."""
    found = []
    for name, before in known.items():
        now = heads.get(name)
        if now is None:
            found.append(
                f"chain {name} no longer has a head: see `stanchion audit verify --witness`"
            )
            continue
        was, is_ = number_in(before), number_in(now)
        if was is not None and is_ is not None and is_ < was:
            said = f"it was at record {was} and is now at {is_}"
            found.append(
                f"chain {name} was put back: {said}; see `stanchion audit verify --witness`"
            )
    return found


def patience_s(failures: int, every_s: int) -> float:
    """How long to wait after a place was not reached for the n-th time: longer each time, and never
    a whole interval longer than promised."""
    return min(FIRST_S * 2.0 ** min(failures - 1, 16), float(every_s), MOST_S)

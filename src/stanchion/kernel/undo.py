"""How to take back what a batch has written so far, so that one that is cut off leaves nothing half
done."""

from __future__ import annotations

from typing import Any

# The places of a cell that a counter changes; `cells` says what they are.
NUMBER, BODY, LIVE = 0, 1, 3


class Undo:
    """What stood where a batch writes. Each entry puts back what was there, so that taking back can
    itself be cut off and begun again; and forgetting them all is one step, so that a batch is
    carried out either wholly or not at all.

    `entries` are a row with no key and a copy of it, or where something stands: a row or a
    dictionary, the place in it, and what stands there, which is `None` for nothing.
    """

    __slots__ = ("entries",)

    def __init__(self) -> None:
        self.entries: list[tuple[Any, Any, Any]] = []

    def row(self, row: list[Any]) -> None:
        """Remember a row, a cell or a hold, before it is written to."""
        self.entries.append((row, None, row[:]))

    def number(self, cell: list[Any], bucket: int) -> None:
        """Remember a counter's number, and what a bucket of its window has if it is 0 or more."""
        self.entries.append((cell, NUMBER, cell[NUMBER]))
        if bucket >= 0:
            self.entries.append((cell, LIVE, cell[LIVE]))
            self.entries.append((cell[BODY], bucket, cell[BODY].get(bucket)))

    def item(self, items: dict[Any, Any], key: Any) -> None:
        """Remember what stands under a key, or that nothing does."""
        self.entries.append((items, key, items.get(key)))

    def keep_all(self) -> None:
        """What was written stays."""
        self.entries.clear()

    def take_back(self) -> None:
        """Put everything back, the last first."""
        for place, key, before in reversed(self.entries):
            if key is None:
                place[:] = before
            elif before is None:
                place.pop(key, None)
            else:
                place[key] = before
        self.entries.clear()

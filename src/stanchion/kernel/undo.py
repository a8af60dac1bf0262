"""How to take back what a batch has written so far, so that one that is cut off leaves nothing half
done."""

from __future__ import annotations

from typing import Any

Entry = tuple[Any, Any, Any]
"""What stood where a batch writes: a row, no key and a copy of it; or a row or a dictionary, the
place in it, and what stands there, which is `None` for nothing."""


def put_back(entries: list[Entry]) -> None:
    """Put everything back, the last first.

    Each entry puts back what was there, so that this can itself be cut off and begun again; and
    forgetting them all is one step, so that a batch is carried out either wholly or not at all.
    """
    for place, key, before in reversed(entries):
        if key is None:
            place[:] = before
        elif before is None:
            place.pop(key, None)
        else:
            place[key] = before
    entries.clear()

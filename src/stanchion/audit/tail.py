"""Following a trail: what was appended since one last looked, whichever chain and segment it went
to."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from stanchion.audit.layout import chains, segment_file, segments
from stanchion.audit.reader import MOST_UNREAD
from stanchion.audit.segment_scan import Found, found_in

MOST: Final = 8 * 1024 * 1024
"""How many bytes of a segment are read at a time."""


class Follower:
    """Remembers how far each segment was read. What was there when it began is behind it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.unread: set[tuple[str, int, int]] = set()
        """Where lines begin that came and cannot be read, as far as it is not too many."""
        self._read: dict[str, dict[int, int]] = {}
        for name in chains(folder):
            self._read[name] = {
                number: _whole(folder / name, number) for number in segments(folder / name)
            }

    def is_behind(self, found: Found) -> bool:
        """Whether a record was there when following began, so that it does not come again."""
        return found.offset < self._read.get(found.chain, {}).get(found.segment, 0)

    def new(self) -> list[Found]:
        """The records that came since the last look, oldest first; those of a chain as they stand
        there."""
        each = [self._new(name) for name in chains(self.folder)]
        return list(heapq.merge(*each, key=lambda one: one.stub.at))

    def _new(self, name: str) -> Iterator[Found]:
        folder, known = self.folder / name, self._read.setdefault(name, {})
        for number in segments(folder):
            start, path = known.get(number, 0), segment_file(folder, number)
            try:
                if path.stat().st_size <= start:
                    continue
                with path.open("rb") as file:
                    file.seek(start)
                    text = file.read(MOST)
            except FileNotFoundError:
                continue
            *lines, _unfinished = text.split(b"\n")
            for line in lines:
                found = found_in(folder, number, start, line)
                if found is not None:
                    yield found
                elif len(self.unread) < MOST_UNREAD:
                    self.unread.add((name, number, start))
                start += len(line) + 1
            if len(text) == MOST:
                # A line that is longer than that is no record, and nobody waits for its end.
                known[number] = start if lines else start + MOST
                return
            known[number] = start


def _whole(folder: Path, number: int) -> int:
    """Where the last whole line of a segment ends."""
    try:
        with segment_file(folder, number).open("rb") as file:
            size = file.seek(0, 2)
            while size:
                start = max(0, size - MOST)
                file.seek(start)
                end = file.read(size - start).rfind(b"\n")
                if end >= 0:
                    return start + end + 1
                size = start
    except FileNotFoundError:
        pass
    return 0

"""What guards have marked of a run: told at its end, or one by one where its end is not written."""

from __future__ import annotations

from typing import Final

import msgspec

from stanchion.audit import notes
from stanchion.audit.reader import Found

FLAGGED: Final = "run.flagged"
STRIKE: Final = "run.strike"


class Marks:
    """Which guards have flagged a run, and how many strikes each has given it at the most."""

    def __init__(self) -> None:
        self.flagged: dict[str, None] = {}
        self.strikes: dict[str, int] = {}

    def ended(self, end: notes.Ended) -> None:
        """Take what a process told at its end."""
        self.flagged.update(dict.fromkeys(end.flagged))
        for guard, count in end.strikes.items():
            self.strikes[guard] = max(count, self.strikes.get(guard, 0))

    def found(self, found: Found) -> None:
        """Take what a record tells, if it tells of a mark."""
        if found.stub.kind != notes.FACT:
            return
        try:
            told = found.note(notes.Told)
        except msgspec.MsgspecError:
            return
        guard, count = told.data.get("guard"), told.data.get("count")
        if not isinstance(guard, str):
            return
        if told.what == FLAGGED:
            self.flagged.setdefault(guard)
        elif told.what == STRIKE and isinstance(count, int):
            self.strikes[guard] = max(count, self.strikes.get(guard, 0))

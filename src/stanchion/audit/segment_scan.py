"""Scanning a segment: its records forwards, backwards, or those that hold a pattern, straight from
the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.audit import notes
from stanchion.audit.apart import data_from, entry_from
from stanchion.audit.layout import segment_file
from stanchion.audit.lines import Line, parse_line
from stanchion.audit.record import EVENT, INTENT, OUTCOME, Entry
from stanchion.audit.stretches import stretches, stretches_back
from stanchion.kernel.tuples import NamedTuple

DECISIONS: Final = frozenset({INTENT, OUTCOME, EVENT})


class Stub(msgspec.Struct, frozen=True, gc=False):
    """What can be told of any record at little cost. `run` is a run's id; for a run's beginning it
    is all of it. `shadow` is what guards in shadow mode found, as it was written."""

    seq: int
    chain: str
    kind: str
    at: int
    id: str = ""
    run: Any = ""
    stage: str = ""
    action: str = ""
    tenant: str = "default"
    agent: str = ""
    task: str = ""
    call: str = ""
    tool: str = ""
    shadow: Any = ()

    @property
    def run_id(self) -> str:
        """The run that a record belongs to; empty where it belongs to none."""
        return str(self.run.get("id", "")) if isinstance(self.run, dict) else str(self.run)


class Found(NamedTuple):
    """A record and where it stands."""

    chain: str
    segment: int
    offset: int
    line: Line
    stub: Stub

    @property
    def is_decision(self) -> bool:
        """Whether it records a decision."""
        return self.stub.kind in DECISIONS

    def entry(self) -> Entry:
        """The decision it records."""
        return entry_from(self.line.body, self.line.kept)

    def note(self, kind: type[notes.Note]) -> Any:
        """What it records that is no decision."""
        return notes.note_from(self.line.body, self.line.kept, kind)

    def told(self) -> notes.Told | None:
        """The fact it records; `None` where that cannot be read."""
        try:
            told: notes.Told = self.note(notes.Told)
        except msgspec.MsgspecError:
            return None
        return told

    def data(self) -> dict[str, Any]:
        """The whole record as data, whatever its kind."""
        return data_from(self.line.body, self.line.kept)


Missed = Callable[[str, int, int], None]
"""Hears of a whole line that cannot be read: its chain, its segment, and at which byte it
begins."""


def _nobody(chain: str, number: int, offset: int) -> None:
    """Hears it, and does nothing."""


_stub = typed.reader(Stub).decode


def forwards(folder: Path, number: int, missed: Missed = _nobody) -> Iterator[Found]:
    """The records of a segment, oldest first."""
    for offset, data in stretches(segment_file(folder, number)):
        start = 0
        while (stop := data.find(b"\n", start)) >= 0:
            found = found_in(folder, number, offset + start, data[start:stop])
            if found is not None:
                yield found
            else:
                missed(folder.name, number, offset + start)
            start = stop + 1


def backwards(folder: Path, number: int, missed: Missed = _nobody) -> Iterator[Found]:
    """The records of a segment, newest first."""
    for offset, data in stretches_back(segment_file(folder, number)):
        stop = data.rfind(b"\n")
        while stop >= 0:
            before = data.rfind(b"\n", 0, stop)
            found = found_in(folder, number, offset + before + 1, data[before + 1 : stop])
            if found is not None:
                yield found
            else:
                missed(folder.name, number, offset + before + 1)
            stop = before


def hits(
    folder: Path, number: int, pattern: bytes, end: int | None, missed: Missed = _nobody
) -> Iterator[Found]:
    """The records of a segment that hold a pattern, newest first; those before byte `end`, where a
    record begins."""
    for offset, data in stretches_back(segment_file(folder, number), end):
        at = len(data)
        while (at := data.rfind(pattern, 0, at)) >= 0:
            start, stop = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
            found = (
                found_in(folder, number, offset + start, data[start:stop]) if stop >= 0 else None
            )
            if found is not None:
                yield found
            elif stop >= 0:
                missed(folder.name, number, offset + start)
            at = start


def of_kind(folder: Path, number: int, kind: str) -> Iterator[Found]:
    """The records of one kind in a segment, newest first."""
    each = hits(folder, number, b'"kind":"%b"' % kind.encode(), None)
    return (found for found in each if found.stub.kind == kind)


def found_in(folder: Path, number: int, offset: int, text: bytes) -> Found | None:
    """The record that a line of a segment is; `None` where it is none."""
    return found_at(text, folder.name, number, offset)


def found_at(text: bytes, chain: str = "", number: int = 0, offset: int = 0) -> Found | None:
    """The record that a line is, wherever it stands; `None` where it is none."""
    line = parse_line(text)
    if line is None:
        return None
    try:
        return Found(chain, number, offset, line, _stub(line.body))
    except msgspec.MsgspecError:
        return None

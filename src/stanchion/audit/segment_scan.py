"""Scanning a segment: its records forwards, backwards, or those that hold a pattern, straight from
the file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from itertools import chain as chained
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.audit import notes
from stanchion.audit.apart import data_from, entry_from
from stanchion.audit.layout import segment_file
from stanchion.audit.record import EVENT, INTENT, OUTCOME, RecordEntry
from stanchion.kernel.regex import regex
from stanchion.kernel.tuples import NamedTuple

# Lines of a segment: a record's exact bytes, with their hash and what stands beside them.

_BEFORE: Final = regex(
    rb'\{"hash":"([0-9a-f]{64})"(?:,"mac":"([0-9a-f]{64})")?,"took":([0-9]{1,19})'
    rb'(?:,"seal":"([0-9a-z:-]+)")?,"body":(?=\{)'
)

KEPT: Final = b',"kept":'
_HELD: Final = regex(rb',"holds":"[0-9a-f]{64}"\}(?=,"kept":)')
"""How a body ends that something is kept apart from: it has no other field of that name, and in its
texts quotes are escaped."""

ERASED: Final = b"null"


class SegmentLine(NamedTuple):
    """One line: the body's hash as written beside it, how long it took, its seal if it has one, the
    body, its mac if it has one, and what is kept apart from it: empty where there is nothing,
    `null` with spaces behind it where it was erased."""

    hash: str
    took_ns: int
    seal: str
    body: bytes
    mac: str = ""
    kept: bytes = b""

    @property
    def fits(self) -> bool:
        """Whether the hash is that of the body, and the body holds what is kept apart, as far as
        that is there."""
        if sha256(self.body).hexdigest() != self.hash:
            return False
        if not self.kept or is_blank(self.kept):
            return True
        return self.body.endswith(b'"%b"}' % sha256(self.kept).hexdigest().encode())


def is_blank(kept: bytes) -> bool:
    """Whether what was kept apart was erased."""
    return kept.rstrip(b" ") == ERASED


def line_of(
    body: bytes, digest: str, took_ns: int, mac: str = "", seal: str = "", kept: bytes = b""
) -> bytes:
    """A record as a line of its segment; `kept` is what stands behind the body, outside its
    hash."""
    proof = b',"mac":"%b"' % mac.encode() if mac else b""
    sealed = b',"seal":"%b"' % seal.encode() if seal else b""
    apart = KEPT + kept if kept else b""
    return b'{"hash":"%b"%b,"took":%d%b,"body":%b%b}\n' % (
        digest.encode(),
        proof,
        took_ns,
        sealed,
        body,
        apart,
    )


def parse_line(line: bytes) -> SegmentLine | None:
    """A line without its line feed, taken apart; `None` where it is no line of a segment, or no
    text."""
    return taken_apart(line) if is_text(line) else None


def is_text(line: bytes) -> bool:
    """Whether these bytes are UTF-8, as all records are."""
    try:
        return line.isascii() or bool(line.decode())
    except UnicodeDecodeError:
        return False


def taken_apart(line: bytes) -> SegmentLine | None:
    """A line in its parts, whether they can be read or not; `None` where it has none."""
    before = _BEFORE.match(line)
    if before is None or not line.endswith(b"}"):
        return None
    digest, mac, took, seal = before.groups()
    held = _HELD.search(line, before.end())
    ends = len(line) - 1 if held is None else held.end()
    if line[ends - 1 : ends] != b"}":
        return None
    kept = b"" if held is None else line[ends + len(KEPT) : -1]
    return SegmentLine(
        digest.decode(), int(took), _text(seal), line[before.end() : ends], _text(mac), kept
    )


def _text(found: bytes | None) -> str:
    return "" if found is None else found.decode()


# Stretches of a segment: whole lines, a block at a time, so that reading takes no more memory for a
# longer file.
#
# A file is read, not mapped: whoever goes on with a chain may cut its file meanwhile, and a process
# that looks at pages that are gone dies. Only what is behind the last whole line is ever cut, so
# whole lines stay where they are.

BLOCK: Final = 1 << 16
"""How many bytes are read at a time; a line that is longer is read in ever larger blocks."""

Stretch = tuple[int, bytes]
"""Where it begins in its file, and its bytes: whole lines, but for what stands behind the last one
of the file."""


def stretches(path: Path, block: int = BLOCK) -> Iterator[Stretch]:
    """The stretches of a file from its beginning; none where retention has just removed it."""
    try:
        file = path.open("rb", buffering=0)
    except FileNotFoundError:
        return
    with file:
        start, size = 0, block
        while True:
            data = os.pread(file.fileno(), size, start)
            if len(data) < size:
                break
            whole = data.rfind(b"\n") + 1
            if whole:
                yield start, data[:whole]
            start, size = start + whole, block if whole else 2 * size
    yield start, data


def stretches_back(path: Path, end: int | None = None, block: int = BLOCK) -> Iterator[Stretch]:
    """The stretches of a file from its end, or from byte `end`, to its beginning."""
    try:
        file = path.open("rb", buffering=0)
    except FileNotFoundError:
        return
    with file:
        stop, size, rest = os.fstat(file.fileno()).st_size if end is None else end, block, b""
        while stop > size:
            start = stop - size
            data = os.pread(file.fileno(), size, start)
            data = data + rest if len(data) == size else data
            cut = data.find(b"\n") + 1
            if cut:
                yield start + cut, data[cut:]
            stop, size, rest = start, block if cut else 2 * size, data[:cut] if cut else data
        data = os.pread(file.fileno(), stop, 0)
        data = data + rest if len(data) == stop else data
    yield 0, data


DECISIONS: Final = frozenset({INTENT, OUTCOME, EVENT})


class Stub(msgspec.Struct, frozen=True, gc=False):
    """What can be told of any record at little cost. `run` is a run's id; for a run's beginning it
    is all of it. `shadow` is what guards in shadow mode found, as it was written, `epoch` the epoch
    of a key that begins with it."""

    prev: str
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
    epoch: str = ""

    @property
    def run_id(self) -> str:
        """The run that a record belongs to; empty where it belongs to none."""
        return str(self.run.get("id", "")) if isinstance(self.run, dict) else str(self.run)


class FoundRecord(NamedTuple):
    """A record and where it stands."""

    chain: str
    segment: int
    offset: int
    line: SegmentLine
    stub: Stub

    @property
    def place(self) -> tuple[int, int]:
        """Where in its chain it stands."""
        return self.segment, self.offset

    @property
    def is_decision(self) -> bool:
        """Whether it records a decision."""
        return self.stub.kind in DECISIONS

    def entry(self) -> RecordEntry:
        """The decision it records."""
        return entry_from(self.line.body, self.line.kept)

    def note(self, kind: type[notes.TrailNote]) -> Any:
        """What it records that is no decision."""
        return notes.note_from(self.line.body, self.line.kept, kind)

    def told(self) -> notes.FactNote | None:
        """The fact it records; `None` where that cannot be read."""
        try:
            told: notes.FactNote = self.note(notes.FactNote)
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


def read_stub(body: bytes) -> Stub | None:
    """What can be told of a body; `None` where it is no record."""
    try:
        return _stub(body)
    except msgspec.MsgspecError:
        return None


def stub_of(line: SegmentLine | None) -> Stub | None:
    """What can be told of a line; `None` where it is no record."""
    return None if line is None else read_stub(line.body)


def forwards(folder: Path, number: int, missed: Missed = _nobody) -> Iterator[FoundRecord]:
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


def backwards(folder: Path, number: int, missed: Missed = _nobody) -> Iterator[FoundRecord]:
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
) -> Iterator[FoundRecord]:
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


def of_kind(folder: Path, number: int, kind: str) -> Iterator[FoundRecord]:
    """The records of one kind in a segment, newest first."""
    each = hits(folder, number, b'"kind":"%b"' % kind.encode(), None)
    return (found for found in each if found.stub.kind == kind)


def erased_in(each: Iterable[tuple[Path, int]]) -> dict[str, tuple[tuple[int, int], ...]]:
    """What records in some segments say was erased, by chain."""
    rows: dict[str, set[tuple[int, int]]] = {}
    for found in chained.from_iterable(of_kind(*one, notes.ERASED) for one in each):
        with suppress(msgspec.MsgspecError):
            for name, some in found.note(notes.Erased).records.items():
                rows.setdefault(name, set()).update(some)
    return {name: tuple(sorted(some)) for name, some in sorted(rows.items())}


def found_in(folder: Path, number: int, offset: int, text: bytes) -> FoundRecord | None:
    """The record that a line of a segment is; `None` where it is none."""
    return found_at(text, folder.name, number, offset)


def found_at(text: bytes, chain: str = "", number: int = 0, offset: int = 0) -> FoundRecord | None:
    """The record that a line is, wherever it stands; `None` where it is none."""
    line = parse_line(text)
    stub = stub_of(line)
    return None if line is None or stub is None else FoundRecord(chain, number, offset, line, stub)

"""Erasing what was said: skeletons stay, the chain still verifies, and a record says what was erased.

That is written first. Then what was said is overwritten where it stands, so that nothing moves: whoever writes a chain
meanwhile is not disturbed. What an interruption left undone is done by whoever erases next.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from stanchion.audit import notes
from stanchion.audit.choosing import agent_of
from stanchion.audit.errors import TrailError, reason
from stanchion.audit.layout import chains, segment_file, segments
from stanchion.audit.lines import ERASED, is_blank, parse_line
from stanchion.audit.reading import Found, Progress, Reader
from stanchion.audit.scanning import Stub, of_kind
from stanchion.audit.trail import Trail
from stanchion.kernel.shown import json_safe

Rows = dict[str, tuple[tuple[int, int], ...]]
"""Records by their chain, from the first to the last of each row."""


class Meant(msgspec.Struct, frozen=True, kw_only=True):
    """Whose words are erased: those of a run, of an agent, on a task, of a tenant, or records that hold a text. Given
    several, a record has to fit all of them."""

    run: str | None = None
    agent: str | None = None
    task: str | None = None
    tenant: str | None = None
    containing: str | None = None

    def __bool__(self) -> bool:
        return any(value is not None for value in msgspec.structs.astuple(self))

    def has(self, found: Found) -> bool:
        """Whether a record is meant, and says anything."""
        kept = found.line.kept
        if not kept or is_blank(kept):
            return False
        stub = found.stub
        return (
            self.run in (None, stub.run_id)
            and self.agent in (None, agent_of(stub))
            and self.task in (None, stub.task)
            and self.tenant in (None, stub.tenant)
            and (self.containing is None or _spelled(self.containing) in kept)
        )

    def may_be_in(self, torn: bytes) -> bool:
        """Whether something that is meant may be in a piece of a record."""
        given = [value for value in msgspec.structs.astuple(self) if value is not None and value != Stub.tenant]
        return all(_spelled(value) in torn for value in given)


def _spelled(text: str) -> bytes:
    """A text as records spell it, without its quotes."""
    return json_safe(msgspec.json.encode(text))[1:-1]


def meant_in(reader: Reader, meant: Meant, progress: Progress | None = None) -> Rows:
    """The records that are meant."""
    found: dict[str, list[tuple[int, int]]] = {}
    for one in reader.forwards(progress):
        if meant.has(one):
            rows, seq = found.setdefault(one.chain, []), one.stub.seq
            if rows and rows[-1][1] == seq - 1:
                rows[-1] = (rows[-1][0], seq)
            else:
                rows.append((seq, seq))
    return {chain: tuple(rows) for chain, rows in sorted(found.items())}


def count_of(rows: Rows) -> int:
    """How many records those are."""
    return sum(last - first + 1 for some in rows.values() for first, last in some)


def erase(trail: Trail, rows: Rows, why: str, by: str) -> int:
    """Erase what was said in some records; gives in how many. That it was is on the disk before."""
    try:
        if rows:
            trail.declare(notes.Erased, notes.ERASED, records=rows, why=why, by=by)
        return blank(trail.folder, rows)
    except OSError as error:
        again = "ask for it again when it can be written"
        raise TrailError(f"the trail in `{trail.folder}` cannot be written: {reason(error)}; {again}") from error


def undone(folder: Path) -> Rows:
    """What the trail says was erased, in all of its records: what an interruption left can be blanked again."""
    rows: dict[str, set[tuple[int, int]]] = {}
    for name in chains(folder):
        for number in segments(folder / name):
            for found in of_kind(folder / name, number, notes.ERASED):
                with suppress(msgspec.MsgspecError):
                    for chain, some in found.note(notes.Erased).records.items():
                        rows.setdefault(chain, set()).update(some)
    return {chain: tuple(sorted(some)) for chain, some in sorted(rows.items())}


def blank(folder: Path, rows: Mapping[str, tuple[tuple[int, int], ...]]) -> int:
    """Overwrite what was said in some records, as far as it is there; gives in how many."""
    there = set(chains(folder))
    done = 0
    for name, some in rows.items():
        for number in segments(folder / name) if name in there else ():
            with suppress(FileNotFoundError):
                done += _blank(segment_file(folder / name, number), some)
    return done


def _blank(path: Path, rows: tuple[tuple[int, int], ...]) -> int:
    with path.open("r+b", buffering=0) as file:
        seen = os.fstat(file.fileno())
        places = list(_places(path, rows))
        for offset, size in places:
            file.seek(offset)
            file.write(ERASED.ljust(size))
        if places:
            os.fsync(file.fileno())
            # How old a segment is counts from its last record.
            os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    return len(places)


def _places(path: Path, rows: tuple[tuple[int, int], ...]) -> Iterator[tuple[int, int]]:
    """Where in a segment something is said that is to be erased, and how long it is."""
    at = 0
    with path.open("rb") as file:
        for text in file:
            line = parse_line(text.rstrip(b"\n")) if text.endswith(b"\n") else None
            at += len(text)
            if line is None or not line.kept or is_blank(line.kept):
                continue
            seq = _seq(line.body)
            if any(first <= seq <= last for first, last in rows):
                yield at - len(b"}\n") - len(line.kept), len(line.kept)


class _Numbered(msgspec.Struct, frozen=True, gc=False):
    seq: int


def _seq(body: bytes) -> int:
    try:
        return msgspec.json.decode(body, type=_Numbered).seq
    except msgspec.MsgspecError:
        return -1


def pieces(folder: Path, meant: Meant) -> list[Path]:
    """Pieces of unfinished records that a crash left beside chains, in which something that is meant may be."""
    each = (path for name in chains(folder) for path in sorted((folder / name).glob("cut.*")))
    return [path for path in each if path.is_file() and meant.may_be_in(path.read_bytes())]

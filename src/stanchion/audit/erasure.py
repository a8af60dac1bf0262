"""Erasing what was said: skeletons stay, the chain still verifies, and a record says what was
erased.

That is written first. Then what was said is overwritten where it stands, so that nothing moves:
whoever writes a chain meanwhile is not disturbed. What an interruption left undone is done by
whoever erases next.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from stanchion import typed
from stanchion.audit import notes
from stanchion.audit.chain import Chain
from stanchion.audit.chain_end import Unfit
from stanchion.audit.doubt import doubted
from stanchion.audit.errors import TrailError, reason
from stanchion.audit.heads import sync_folder
from stanchion.audit.keys import Key
from stanchion.audit.layout import chains, segment_file, segments
from stanchion.audit.lines import ERASED, is_blank, parse_line
from stanchion.audit.meant import Meant, task_of
from stanchion.audit.reader import Progress, Reader
from stanchion.audit.segment_scan import of_kind
from stanchion.audit.selection import agent_of
from stanchion.audit.trail import Trail

Rows = dict[str, tuple[tuple[int, int], ...]]
"""Records by their chain, from the first to the last of each row."""


class Said(NamedTuple):
    """Records that are meant, and the runs that they are of: tenant and id."""

    rows: Rows
    runs: frozenset[tuple[str, str]]


def meant_in(reader: Reader, meant: Meant, progress: Progress | None = None) -> Said:
    """The records that are meant. A fact has no agent and no task of its own: it has those of its
    run. What became of a bypass is never erased: it has nothing of what a call was given."""
    found: dict[str, list[tuple[int, int]]] = {}
    runs: set[tuple[str, str]] = set()
    whose: dict[tuple[str, str], set[tuple[str, str]]] = {}
    facts: list[tuple[str, int, tuple[str, str]]] = []
    bare = meant.agent is not None or meant.task is not None
    for one in reader.forwards(progress):
        stub = one.stub
        run = stub.tenant, stub.run_id
        if stub.kind == notes.BYPASS:
            continue
        if bare and stub.kind == notes.FACT:
            facts += [(one.chain, stub.seq, run)] if meant.is_said(one) else []
            continue
        if bare and stub.run_id:
            tenant = (
                stub.run.get("tenant", stub.tenant) if isinstance(stub.run, dict) else stub.tenant
            )
            whose.setdefault((tenant, stub.run_id), set()).add((agent_of(stub), task_of(stub)))
        if meant.has(one):
            _add(found.setdefault(one.chain, []), stub.seq)
            runs.add(run)
    for chain, seq, run in facts:
        if any(
            meant.is_of(run[1], agent, task, run[0]) for agent, task in whose.get(run, {("", "")})
        ):
            _add(found.setdefault(chain, []), seq)
            runs.add(run)
    return Said({chain: _joined(rows) for chain, rows in sorted(found.items())}, frozenset(runs))


def _add(rows: list[tuple[int, int]], seq: int) -> None:
    if rows and rows[-1][1] == seq - 1:
        rows[-1] = (rows[-1][0], seq)
    else:
        rows.append((seq, seq))


def _joined(rows: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The same rows in order, each as long as it can be."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(rows):
        if joined and joined[-1][1] >= first - 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return tuple(joined)


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
        again = "erase again when it can be written"
        raise TrailError(
            f"the trail in `{trail.folder}` cannot be written: {reason(error)}; {again}"
        ) from error


def undone(folder: Path) -> Rows:
    """What the trail says was erased, in all of its records: what an interruption left can be
    blanked again."""
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
            seq, kind = _numbered(line.body)
            if kind != notes.BYPASS and any(first <= seq <= last for first, last in rows):
                yield at - len(b"}\n") - len(line.kept), len(line.kept)


class _Numbered(msgspec.Struct, frozen=True, gc=False):
    seq: int
    kind: str = ""


def _numbered(body: bytes) -> tuple[int, str]:
    try:
        return msgspec.structs.astuple(typed.decode(body, _Numbered))
    except msgspec.MsgspecError:
        return -1, ""


def cut_off(folder: Path, names: Iterable[str], key: Key | None, clock: Callable[[], int]) -> None:
    """Cut unfinished records off from chains that nobody writes, as the next process would: what
    was cut off is then a file beside its chain. A chain that nobody can go on with stays as it
    is."""
    for name in sorted(set(names) - doubted(folder).keys()):
        with suppress(Unfit, OSError):
            chain = Chain.resume(folder, name, key, clock)
            if chain is not None:
                try:
                    chain.enter(os.getpid())
                finally:
                    chain.close({})


def remove(found: Iterable[Path]) -> None:
    """Remove files beside chains in which a crash left pieces, for good."""
    for path in found:
        path.unlink(missing_ok=True)
        sync_folder(path.parent)

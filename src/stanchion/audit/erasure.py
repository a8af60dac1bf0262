"""Erasing what was said: skeletons stay, the chain still verifies, and a record says what was
erased.

That is written first. Then what was said is overwritten where it stands, so that nothing moves:
whoever writes a chain meanwhile is not disturbed. What an interruption left undone is done by
whoever erases next.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from stanchion.audit import notes
from stanchion.audit.chain import OpenChain
from stanchion.audit.chain_end import UnfitChain
from stanchion.audit.doubt import doubted
from stanchion.audit.errors import TrailError, reason
from stanchion.audit.keys import TrailKey
from stanchion.audit.layout import chains, segment_file, segments, sync_folder
from stanchion.audit.reader import Progress, TrailReader, agent_of, spelled
from stanchion.audit.segment_scan import (
    ERASED,
    KEPT,
    FoundRecord,
    Stub,
    erased_in,
    found_at,
    is_blank,
    parse_line,
    stub_of,
)
from stanchion.audit.trail import Trail
from stanchion.kernel.names import Names
from stanchion.kernel.regex import regex

# Whose words are meant where something is erased: judged on records, on pieces of them, and on what
# is no record.

FEWEST: Final = 3
"""How many bytes of a text, at least, the end of a torn record has to have of it to be taken for
its beginning."""

USUAL: Final = {"run": "", "agent": "", "task": "", "tenant": "default"}
"""What a whole body has in the fields that it leaves out."""

_VALUES: Final = {
    name: regex(rb'"%b":(?:\{"id":)?"((?:[^"\\]|\\.)*)("?)' % name.encode(), re.DOTALL)
    for name in USUAL
}
"""The values of a field wherever it stands; without the quote behind it one is torn."""


class Meant(msgspec.Struct, frozen=True, kw_only=True):
    """Whose words are erased: those of runs, of agents, on tasks, of tenants, or records that hold
    a text. Given several, a record has to fit all of them."""

    run: Names | None = None
    agent: Names | None = None
    task: Names | None = None
    tenant: Names | None = None
    containing: str | None = None

    def __bool__(self) -> bool:
        return any(value is not None for value in msgspec.structs.astuple(self))

    @property
    def named(self) -> dict[str, Names]:
        """The names that were given, by what they name."""
        return {name: wanted for name in USUAL if (wanted := getattr(self, name)) is not None}

    def has(self, found: FoundRecord) -> bool:
        """Whether a record is meant, and says anything."""
        stub = found.stub
        return self.is_said(found) and self.is_of(
            stub.run_id, agent_of(stub), task_of(stub), stub.tenant
        )

    def is_said(self, found: FoundRecord) -> bool:
        """Whether a record says anything, and the text that is meant, whoever it is of."""
        kept = found.line.kept
        return (
            bool(kept)
            and not is_blank(kept)
            and (self.containing is None or spelled(self.containing)[1:-1] in kept)
        )

    def is_of(self, run: str, agent: str, task: str, tenant: str) -> bool:
        """Whether something is of whom is meant."""
        return (
            (self.run is None or run in self.run)
            and (self.agent is None or agent in self.agent)
            and (self.task is None or task in self.task)
            and (self.tenant is None or tenant in self.tenant)
        )

    def may_be_in(self, torn: bytes) -> bool:
        """Whether something that is meant may be in the beginning of a record, all that there is of
        it."""
        return self.may_be_of(torn) and (
            self.containing is None or _begins(spelled(self.containing)[1:-1], torn)
        )

    def may_be_of(self, damaged: bytes) -> bool:
        """Whether bytes that were a record may be of whom is meant: what they do not tell counts as
        that."""
        whole = damaged.startswith(b'{"hash":"') and KEPT in damaged
        for name, wanted in self.named.items():
            values = list(_read(name, damaged))
            values = [USUAL[name]] if not values and whole else values
            if values and not any(value is None or value in wanted for value in values):
                return False
        return True

    def is_in(self, line: bytes) -> bool:
        """Whether a line of any file holds what is meant, as a record or as part of one."""
        found = found_at(line)
        if found is not None:
            return self.has(found)
        if (
            self.containing is not None
            and spelled(self.containing)[1:-1] not in line
            and self.containing.encode("utf-8", "surrogatepass") not in line
        ):
            return False
        each = self.named.items()
        return all(
            any(value in wanted for value in _read(name, line) if value is not None)
            for name, wanted in each
        )


def task_of(stub: Stub) -> str:
    """The task that a record is about."""
    return str(stub.run.get("task", "")) if isinstance(stub.run, dict) else stub.task


def _begins(text: bytes, torn: bytes) -> bool:
    """Whether a text is in a torn record, or begins at its end."""
    if text in torn:
        return True
    sizes = range(min(FEWEST, len(text)), len(text))
    return any(torn.endswith(text[:size]) for size in sizes)


def _read(name: str, raw: bytes) -> Iterator[str | None]:
    """The values that a field has in some bytes; `None` for one that cannot be read, or is torn."""
    for value, ends in _VALUES[name].findall(raw):
        try:
            yield msgspec.json.decode(b'"%b"' % value, type=str) if ends else None
        except (msgspec.DecodeError, UnicodeDecodeError):
            yield None


Rows = dict[str, tuple[tuple[int, int], ...]]
"""Records by their chain, from the first to the last of each row."""


class MeantRecords(NamedTuple):
    """Records that are meant, and the runs that they are of: tenant and id."""

    rows: Rows
    runs: frozenset[tuple[str, str]]


def meant_in(reader: TrailReader, meant: Meant, progress: Progress | None = None) -> MeantRecords:
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
    return MeantRecords(
        {chain: _joined(rows) for chain, rows in sorted(found.items())}, frozenset(runs)
    )


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
    every = [folder / name for name in chains(folder)]
    return erased_in((chain, number) for chain in every for number in segments(chain))


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
            stub = stub_of(line)
            if (
                stub is not None
                and stub.kind != notes.BYPASS
                and any(first <= stub.seq <= last for first, last in rows)
            ):
                yield at - len(b"}\n") - len(line.kept), len(line.kept)


def cut_off(
    folder: Path, names: Iterable[str], key: TrailKey | None, clock: Callable[[], int]
) -> None:
    """Cut unfinished records off from chains that nobody writes, as the next process would: what
    was cut off is then a file beside its chain. A chain that nobody can go on with stays as it
    is."""
    for name in sorted(set(names) - doubted(folder).keys()):
        with suppress(UnfitChain, OSError):
            chain = OpenChain.resume(folder, name, key, clock)
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

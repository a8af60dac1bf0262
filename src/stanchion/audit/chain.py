"""One chain, open for writing: records are appended, each bound to the one before, segment after
segment."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from stanchion.audit import notes
from stanchion.audit.chain_end import ChainEnd, UnfitChain, end_of
from stanchion.audit.chain_lock import take
from stanchion.audit.doubt import doubted
from stanchion.audit.keys import KeyEpoch, TrailKey, mac_of, next_key
from stanchion.audit.layout import (
    ChainHead,
    chains,
    read_head,
    segment_file,
    sync_folder,
    write_head,
    write_private,
)
from stanchion.audit.record import GENESIS
from stanchion.audit.segment_scan import line_of
from stanchion.kernel.regex import regex
from stanchion.locks import Lock

# The file that is being written: bytes put there are in the system's hands at once, and outlive the
# process.

_OPEN: Final = os.O_CREAT | os.O_WRONLY | os.O_APPEND


def _longest() -> float:
    """How long a file of this process may get."""
    import resource

    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    return float("inf") if limit == resource.RLIM_INFINITY else limit


class Pages:
    """A file open for appending, written line by line. `file` is its descriptor, `inode` which file
    it is.

    It is not mapped into memory: somebody who cuts a mapped file off kills whoever writes to it.
    """

    def __init__(self, path: Path, new: bool = False) -> None:
        self.file = os.open(path, _OPEN | (os.O_EXCL if new else 0), 0o600)
        seen = os.fstat(self.file)
        self.inode: Final = (seen.st_dev, seen.st_ino)
        self._unsure = False

    def put(self, offset: int, line: bytes) -> None:
        """Put a line behind what is written; all of it or, raising `OSError`, nothing that
        lasts."""
        if self._unsure:
            self.cut(offset)
        # A signal may come right behind the system's call: until the caller has counted the line,
        # it can be taken back.
        self._unsure = True
        done = os.write(self.file, line)
        if done != len(line):
            self.cut(offset)
            code = errno.EFBIG if offset + len(line) > _longest() else errno.ENOSPC
            raise OSError(code, os.strerror(code))
        self._unsure = False

    def size(self, offset: int) -> int:
        """How long the file is; a line that was interrupted behind `offset` is still to be taken
        back, and no part."""
        found = os.lseek(self.file, 0, os.SEEK_END)
        return offset if self._unsure and found > offset else found

    def cut(self, offset: int) -> None:
        """Remove whatever stands behind; a file that is shorter stays as short as somebody made
        it."""
        if os.lseek(self.file, 0, os.SEEK_END) > offset:
            os.ftruncate(self.file, offset)
        self._unsure = False

    def close(self) -> None:
        """Let go of the file as it is."""
        os.close(self.file)


Heads = Mapping[str, tuple[int, str]]
"""The newest sealed record of other chains: its number and hash."""

Lost = tuple[tuple[str, int, str, str], ...]
"""Chains that were taken from under their writer: chain, last record, its hash, and what was
seen."""

fdatasync: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)

_ADDRESS: Final = regex(
    rb'(\{"v":[0-9]+,)"prev":"[0-9a-f]{64}","seq":[0-9]+,"chain":"[0-9a-f]{16}"'
)


class OpenChain:
    """A chain that this process writes. The trail has a lock round it; only its head may be sealed
    outside of that."""

    def __init__(
        self, folder: Path, lock: int, end: ChainEnd, key: TrailKey | None, clock: Callable[[], int]
    ) -> None:
        self.folder = folder
        self.id = folder.name
        self.key = key
        self.clock = clock
        (
            self.number,
            self.offset,
            self.seq,
            self.head,
            self.cut,
            self.began,
            self.since,
            self.found,
        ) = end
        self.since_checkpoint = 0
        self._epoch: KeyEpoch | None = None
        self._mac_key = b""
        self._fresh = False
        self._lock = lock
        self._sealing, self._sealed = Lock(), -1
        try:
            self._inode = _inode(os.lstat(folder))
            self._pages = Pages(segment_file(folder, self.number))
        except OSError:
            os.close(lock)
            raise

    @classmethod
    def begin(
        cls, trail: Path, name: str, key: TrailKey | None, clock: Callable[[], int]
    ) -> OpenChain:
        """Begin a chain. It gets its name when it is whole, so that nobody ever meets half of
        one."""
        folder = trail / f"{name}.new"
        folder.mkdir(mode=0o700)
        lock = take(folder)
        if lock is None:
            raise OSError(f"`{folder}` is locked by another process")
        chain = cls(folder, lock, ChainEnd(1, 0, 0, GENESIS, 0, clock()), key, clock)
        chain.id = name
        try:
            chain._renew()
            chain._first(notes.SegmentBegun, notes.SEGMENT, number=1)
            chain.sync()
            chain.seal(chain.position())
            sync_folder(folder)
            chain.folder = trail / name
            os.rename(folder, chain.folder)
            sync_folder(trail)
        except BaseException:
            chain.abandon()
            from shutil import rmtree

            rmtree(folder, ignore_errors=True)
            raise
        return chain

    @classmethod
    def resume(
        cls, trail: Path, name: str, key: TrailKey | None, clock: Callable[[], int]
    ) -> OpenChain | None:
        """Go on with a chain; `None` where another process writes it, `UnfitChain` where it was
        tampered with.

        What a crash left of an unfinished record is cut off, and kept beside the chain.
        """
        folder = trail / name
        lock = take(folder)
        if lock is None:
            return None
        try:
            end = end_of(folder, key)
        except BaseException:
            os.close(lock)
            raise
        chain = cls(folder, lock, end, key, clock)
        try:
            if end.cut:
                whole = segment_file(folder, end.number).read_bytes()[end.offset :]
                write_private(folder / f"cut.{end.seq}", whole.rstrip(b"\0"))
            chain._pages.cut(end.offset)
            if not end.offset:
                chain.began = clock()
                chain._renew()
                chain._first(notes.SegmentBegun, notes.SEGMENT, number=end.number)
        except BaseException:
            chain.abandon()
            raise
        return chain

    def enter(self, pid: int, unfit: tuple[str, ...] = (), lost: Lost = ()) -> int:
        """Say that this process goes on with the chain; gives how many bytes that takes. The head
        stops being a closed one before anything follows."""
        if self._epoch is None:
            self._renew()
        self.sync()
        self.seal(self.position())
        return self._first(
            notes.ChainOpened,
            notes.OPEN,
            cut=self.cut,
            unfit=unfit,
            pid=pid,
            found=self.found,
            lost=lost,
        )

    def _renew(self) -> None:
        """Begin an epoch of the key, if there is one, with the next record."""
        if self.key is not None:
            self._epoch = self.key.begin(self.id, self.seq)
            self._mac_key, self._fresh = self._epoch.first, bool(self._epoch.name)

    def _first(self, kind: type[notes.TrailNote], name: str, **fields: Any) -> int:
        """Append a record with which an epoch may begin; where one does, it says so."""
        if self._epoch is None or not self._fresh:
            return self.note(kind, name, **fields)
        seq = self.seq
        size = self.note(kind, name, epoch=self._epoch.name, **fields)
        self.since, self._fresh = seq, False
        return size

    def append(self, body: bytes, took_ns: int = 0, seal: str = "", kept: bytes = b"") -> int:
        """Append a record's bytes, all of them or, raising `OSError`, none; gives how many the line
        has."""
        digest = sha256(body).hexdigest()
        key = self._mac_key
        if key:
            line = line_of(body, digest, took_ns, mac_of(key, digest), seal, kept)
            key = next_key(key)
        else:
            line = line_of(body, digest, took_ns, "", seal, kept)
        size = len(line)
        self._pages.put(self.offset, line)
        # Nothing is called from here on, so no signal comes between and leaves one of these behind.
        self.offset += size
        self.head = digest
        self.seq += 1
        self.since_checkpoint += 1
        self._mac_key = key
        return size

    def append_again(self, body: bytes, took_ns: int, kept: bytes = b"") -> int:
        """Append a record that was written to another chain, at its new place."""
        place = rb'\1"prev":"%b","seq":%d,"chain":"%b"' % (
            self.head.encode(),
            self.seq,
            self.id.encode(),
        )
        return self.append(_ADDRESS.sub(place, body, count=1), took_ns, kept=kept)

    def note(self, kind: type[notes.TrailNote], name: str, **fields: Any) -> int:
        """Append a record that is no decision; gives how many bytes its line has."""
        return self.append(self._noted(kind, name, fields))

    def _noted(self, kind: type[notes.TrailNote], name: str, fields: dict[str, Any]) -> bytes:
        at = self.clock()
        return notes.encode_note(
            kind(prev=self.head, seq=self.seq, chain=self.id, kind=name, at=at, **fields)
        ).body

    def checkpoint(self, heads: Heads) -> None:
        """Append a checkpoint: it binds the other chains to this one, and with a key it seals what
        stands before."""
        body = self._noted(notes.Checkpoint, notes.CHECKPOINT, {"heads": dict(heads)})
        seal = ""
        if self._epoch is not None:
            seal = self._epoch.seal(f"checkpoint:{self.id}:{sha256(body).hexdigest()}")
        self.append(body, 0, seal)
        self.since_checkpoint = 0

    def rotate(self, heads: Heads) -> None:
        """End the segment with a checkpoint and begin the next; the old one is on the disk
        before."""
        self.checkpoint(heads)
        self.sync()
        self._renew()
        pages = Pages(segment_file(self.folder, self.number + 1), new=True)
        self._pages.close()
        self._pages = pages
        self.number += 1
        self.offset = 0
        self.began = self.clock()
        self._first(notes.SegmentBegun, notes.SEGMENT, number=self.number)
        sync_folder(self.folder)

    def sync(self) -> None:
        """Bring what is written to the disk."""
        fdatasync(self._pages.file)

    def is_short(self) -> bool:
        """Whether the present segment is not as long as this process made it; asked before every
        record."""
        return self._pages.size(self.offset) != self.offset

    def may_have_strayed(self, offset: int) -> bool:
        """Whether there is something that `strayed` may tell: another folder or file at its place,
        or one that is shorter than up to that offset, or longer than it has become. Others may
        append meanwhile."""
        try:
            folder, segment = (
                os.lstat(self.folder),
                os.lstat(segment_file(self.folder, self.number)),
            )
        except OSError:
            return True
        if _inode(folder) != self._inode or _inode(segment) != self._pages.inode:
            return True
        return not offset <= segment.st_size <= self.offset

    def strayed(self) -> str:
        """How the chain is not where or as this process left it; empty where it is."""
        segment = f"segment {self.number}"
        try:
            if _inode(os.lstat(self.folder)) != self._inode:
                return "another folder is in its place"
            if _inode(os.lstat(segment_file(self.folder, self.number))) != self._pages.inode:
                return f"another file has replaced {segment}"
        except FileNotFoundError as error:
            gone = "its folder" if error.filename == str(self.folder) else segment
            return f"{gone} was removed or renamed"
        size = self._pages.size(self.offset)
        if size < self.offset:
            return f"{segment} was cut from {self.offset} to {size} bytes"
        return (
            f"{size - self.offset} bytes were added after the end of {segment}"
            if size > self.offset
            else ""
        )

    def position(self, closed: bool = False) -> ChainHead:
        """How far the chain has come."""
        return ChainHead(
            self.id, self.number, self.offset, self.seq - 1, self.head, closed, self.since
        )

    def seal(self, position: ChainHead) -> None:
        """Write the head: everything up to that position is on the disk. One that is farther on
        stays."""
        with self._sealing:
            if position.seq >= self._sealed:
                write_head(self.folder, position, None if self._epoch is None else self._epoch.seal)
                self._sealed = position.seq

    def close(self, heads: Heads) -> None:
        """End properly, with a checkpoint and a closed head."""
        try:
            if self.since_checkpoint:
                self.checkpoint(heads)
            self._pages.cut(self.offset)
            self.sync()
            self.seal(self.position(closed=True))
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Let go of the files, as a crash would."""
        self._pages.close()
        os.close(self._lock)


def _inode(seen: os.stat_result) -> tuple[int, int]:
    return seen.st_dev, seen.st_ino


# Taking a chain of a trail: one that nobody writes, or a new one; and what the others have come to.


def take_chain(
    trail: Path, key: TrailKey | None, clock: Callable[[], int], names: Callable[[], str]
) -> tuple[OpenChain, dict[str, str], Lost]:
    """The first chain that nobody writes and that is as its writer left it, or a new one; those
    that are unfit, with why; and what is to be said of those in doubt."""
    unfit: dict[str, str] = {}
    doubts = doubted(trail)
    for name in chains(trail):
        if name in doubts:
            unfit[name] = "it is in doubt"
            continue
        try:
            chain = OpenChain.resume(trail, name, key, clock)
        except (UnfitChain, OSError) as error:
            unfit[name] = str(error)
            continue
        if chain is not None:
            return chain, unfit, tuple(doubts.values())
    return OpenChain.begin(trail, names(), key, clock), unfit, tuple(doubts.values())


def heads_beside(trail: Path, own: str) -> Heads:
    """How far the other chains of a trail have come, by their heads."""
    heads = {}
    for name in chains(trail):
        head = read_head(trail / name) if name != own else None
        if head is not None:
            heads[name] = (head.seq, head.hash)
    return heads

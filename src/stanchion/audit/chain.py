"""One chain, open for writing: records are appended, each bound to the one before, segment after segment."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from stanchion.audit import notes
from stanchion.audit.ending import End, end_of
from stanchion.audit.heads import Head, write_head, write_private
from stanchion.audit.keys import Key
from stanchion.audit.layout import segment_file
from stanchion.audit.lines import line_of
from stanchion.audit.locking import take
from stanchion.audit.pages import open_pages
from stanchion.audit.record import GENESIS

Heads = Mapping[str, tuple[int, str]]
"""The newest sealed record of other chains: its number and hash."""

fdatasync: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)


class Chain:
    """A chain that this process writes. It has no lock against threads: the trail has one round it."""

    def __init__(self, folder: Path, lock: int, end: End, key: Key | None, clock: Callable[[], int]) -> None:
        self.folder = folder
        self.id = folder.name
        self.key = key
        self.clock = clock
        self.number, self.offset, self.seq, self.head, self.cut, _ = end
        self.since_checkpoint = 0
        self.began = end.began
        """When the present segment began."""
        self._lock = lock
        try:
            self._pages = open_pages(segment_file(folder, self.number))
        except OSError:
            os.close(lock)
            raise

    @classmethod
    def begin(cls, trail: Path, name: str, key: Key | None, clock: Callable[[], int]) -> Chain:
        """Begin a chain. It gets its name when it is whole, so that nobody ever meets half of one."""
        folder = trail / f"{name}.new"
        folder.mkdir(mode=0o700)
        lock = take(folder)
        if lock is None:
            raise OSError(f"`{folder}` is locked by another process")
        chain = cls(folder, lock, End(1, 0, 0, GENESIS, 0, clock()), key, clock)
        chain.id = name
        try:
            chain.note(notes.Segment, notes.SEGMENT, number=1)
            chain.sync()
            chain.seal(chain.position())
            sync_folder(folder)
            chain.folder = trail / name
            os.rename(folder, chain.folder)
            sync_folder(trail)
        except BaseException:
            chain.abandon()
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return chain

    @classmethod
    def resume(cls, trail: Path, name: str, key: Key | None, clock: Callable[[], int]) -> Chain | None:
        """Go on with a chain; `None` where another process writes it. Raises `Unfit` where it was tampered with.

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
                chain.note(notes.Segment, notes.SEGMENT, number=end.number)
        except BaseException:
            chain.abandon()
            raise
        return chain

    def append(self, body: bytes, took_ns: int = 0, seal: str = "", kept: bytes = b"") -> int:
        """Append a record's bytes, all of them or, raising `OSError`, none; gives how many the line has."""
        digest = sha256(body).hexdigest()
        line = line_of(body, digest, took_ns, seal, kept)
        size = len(line)
        self._pages.put(self.offset, line)
        # Nothing is called from here on, so no signal comes between and leaves one of these behind.
        self.offset += size
        self.head = digest
        self.seq += 1
        self.since_checkpoint += 1
        return size

    def note(self, kind: type[notes.Note], name: str, **fields: Any) -> int:
        """Append a record that is no decision; gives how many bytes its line has."""
        return self.append(self._noted(kind, name, fields))

    def _noted(self, kind: type[notes.Note], name: str, fields: dict[str, Any]) -> bytes:
        at = self.clock()
        return notes.encode_note(kind(prev=self.head, seq=self.seq, chain=self.id, kind=name, at=at, **fields)).body

    def checkpoint(self, heads: Heads) -> None:
        """Append a checkpoint: it binds the other chains to this one, and with a key it seals what stands before."""
        body = self._noted(notes.Checkpoint, notes.CHECKPOINT, {"heads": dict(heads)})
        seal = ""
        if self.key is not None:
            seal = self.key.seal(f"checkpoint:{self.id}:{sha256(body).hexdigest()}")
        self.append(body, 0, seal)
        self.since_checkpoint = 0

    def rotate(self, heads: Heads) -> None:
        """End the segment with a checkpoint and begin the next; the old one is on the disk before."""
        self.checkpoint(heads)
        self._pages.cut(self.offset)
        self.sync()
        pages = open_pages(segment_file(self.folder, self.number + 1), new=True)
        self._pages.close()
        self._pages = pages
        self.number += 1
        self.offset = 0
        self.began = self.clock()
        self.note(notes.Segment, notes.SEGMENT, number=self.number)
        sync_folder(self.folder)

    def sync(self) -> None:
        """Bring what is written to the disk."""
        fdatasync(self._pages.file)

    def intact(self) -> bool:
        """Whether the present segment is still in its place, and as long as this process made it."""
        return self._pages.intact(self.offset)

    def position(self, closed: bool = False) -> Head:
        """How far the chain has come."""
        return Head(self.id, self.number, self.offset, self.seq - 1, self.head, closed)

    def seal(self, position: Head) -> None:
        """Write the head: everything up to that position is on the disk."""
        write_head(self.folder, position, self.key)

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


def sync_folder(folder: Path) -> None:
    """Bring a folder's names to the disk, where the system can."""
    if os.name == "nt":
        return
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)

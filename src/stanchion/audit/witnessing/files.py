"""A witness in a file: one that only grows, a pipe that somebody else reads, or just a copy."""

from __future__ import annotations

import os
import select
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from stanchion.audit.errors import reason
from stanchion.audit.verifying.rewritable import why_rewritable
from stanchion.audit.verifying.witness import Witness, read_witness
from stanchion.audit.witnessing.place import (
    BadPlace,
    Unreachable,
    WitnessEntry,
    WrittenLine,
    following,
    newest_in,
)
from stanchion.locks.files import lock

PIPE_S: Final = 10.0
"""How long whoever reads a pipe may take for a line."""
LOCK_TRIES: Final = 50
LOCK_S: Final = 0.1
TAIL: Final = 1 << 16

_APPEND: Final = os.O_APPEND | os.O_CREAT
_sync: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)

Beside = Callable[[bytes], bytes]
"""Gives what is to be written behind a line, such as a token for it."""


def nothing(_line: bytes) -> bytes:
    """Nothing stands behind a line."""
    return b""


class FilePlace:
    """Appends to a file, and to a pipe. Safe between processes: one at a time finds the newest line
    and adds one."""

    def __init__(self, path: Path, name: str = "", beside: Beside = nothing) -> None:
        self.path, self.name, self._beside = path, name if name else str(path), beside
        self._torn = False
        self._pipe: int | None = None

    def append(self, entry: WitnessEntry) -> WrittenLine:
        """Write a line behind the newest one, to last."""
        try:
            kind = self.path.stat().st_mode if self.path.exists() else stat.S_IFREG
            if stat.S_ISDIR(kind):
                own = "files that this user creates in a folder belong to them and can be rewritten"
                raise BadPlace(
                    f"the witness `{self.name}` is a folder: give a file in it, because {own}"
                )
            if stat.S_ISFIFO(kind):
                return self._to_pipe(entry)
            if not stat.S_ISREG(kind):
                raise BadPlace(
                    f"the witness `{self.name}` is not a file: give a file, a pipe, or another "
                    f"kind of place"
                )
            return self._to_file(entry)
        except Unreachable:
            raise
        except OSError as error:
            raise Unreachable(f"`{self.name}` cannot be written: {reason(error)}") from None

    def why_copy(self, uid: int | None) -> str:
        """Why a user could rewrite it."""
        return why_rewritable(self.path, uid)

    def witness(self, uid: int | None) -> Witness:
        """All that was written there."""
        return read_witness(self.name, self.read(), self.why_copy(uid))

    def read(self) -> bytes:
        """All bytes of it."""
        try:
            if self.path.is_fifo():
                raise Unreachable(f"`{self.name}` is a pipe: give the file that its reader writes")
            return self.path.read_bytes()
        except Unreachable:
            raise
        except OSError as error:
            raise Unreachable(f"cannot read the witness `{self.name}`: {error.strerror}") from None

    def close(self) -> None:
        """Let go of a pipe; of a file nothing is held between two lines."""
        if self._pipe is not None:
            os.close(self._pipe)
        self._pipe = None

    def _to_file(self, entry: WitnessEntry) -> WrittenLine:
        file, reads = _opened(self.path)
        try:
            _locked(file, self.name)
            newest, ragged = _end(file) if reads else (entry.mine, self._torn)
            written = following(
                entry, newest, lambda line: line in self.path.read_bytes().split(b"\n")
            )
            line = written.line + b"\n" + self._beside(written.line)
            self._torn = True
            _put(file, b"\n" + line if ragged else line)
            self._torn = False
            _sync(file)
            return written
        finally:
            os.close(file)

    def _to_pipe(self, entry: WitnessEntry) -> WrittenLine:
        """Write to a pipe, which stays open: its reader would take the end of a line for the end of
        all."""
        try:
            if self._pipe is None:
                self._pipe = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK)
            written = following(entry, entry.mine, lambda _: True)
            left = memoryview((b"\n" if self._torn else b"") + written.line + b"\n")
            until = time.monotonic() + PIPE_S
            while left:
                if not select.select([], [self._pipe], [], max(0.0, until - time.monotonic()))[1]:
                    raise Unreachable(
                        f"the reader of the pipe `{self.name}` did not take a line within "
                        f"{PIPE_S:g} s"
                    )
                left = left[os.write(self._pipe, left) :]
                self._torn = True
        except Unreachable:
            raise
        except OSError as error:
            self.close()
            raise Unreachable(f"nobody reads the pipe `{self.name}`: {reason(error)}") from None
        self._torn = False
        return written


def _opened(path: Path) -> tuple[int, bool]:
    """A file to append to, and whether it can be read as well."""
    try:
        return os.open(path, os.O_RDWR | _APPEND, 0o600), True
    except PermissionError:
        return os.open(path, os.O_WRONLY | _APPEND, 0o600), False


def _end(file: int) -> tuple[bytes, bool]:
    """The newest line of a file, and whether something stands behind its last line feed: a crash
    leaves that."""
    size, span = os.fstat(file).st_size, TAIL
    while True:
        os.lseek(file, max(0, size - span), os.SEEK_SET)
        tail = _taken(file, min(span, size))
        # The first line of what was read may have begun before it.
        whole = tail if span >= size else tail[tail.find(b"\n") + 1 :]
        newest = newest_in(whole)
        if newest or span >= size:
            return newest, bool(tail) and not tail.endswith(b"\n")
        span *= 4


def _taken(file: int, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size and (part := os.read(file, size - len(parts))):
        parts += part
    return bytes(parts)


def _put(file: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def _locked(file: int, name: str) -> None:
    """Be the only writer until the file is closed."""
    for _ in range(LOCK_TRIES):
        try:
            lock(file)
            return
        except (BlockingIOError, PermissionError):
            time.sleep(LOCK_S)
    raise Unreachable(f"another process has locked `{name}`: stop it, or wait until it is done")

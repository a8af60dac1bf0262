"""Disks that misbehave: what stands in for the operating system's sync, told by a test what to
do."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


class Disk:
    """Syncs as the system does, unless it is told to hang or to fail; knows how long each file was
    when it did."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fails = 0
        """The error number that syncs fail with."""
        self.synced: dict[int, int] = {}
        """Inode to how many of its bytes are on the disk."""
        self.syncs = 0
        self._free = threading.Event()
        self._free.set()
        self._hanging = threading.Event()
        monkeypatch.setattr("stanchion.audit.chain.fdatasync", self.sync)

    def sync(self, file: int) -> None:
        """Bring a file to the disk, as slowly and as well as was told."""
        seen = os.fstat(file)
        if not self._free.is_set():
            self._hanging.set()
            assert self._free.wait(60), "a test forgot to let the disk go on"
        self.syncs += 1
        if self.fails:
            raise OSError(self.fails, os.strerror(self.fails))
        os.fsync(file)
        self.synced[seen.st_ino] = seen.st_size

    @contextmanager
    def hangs(self) -> Iterator[None]:
        """While this lasts, no sync comes back."""
        self._hanging.clear()
        self._free.clear()
        try:
            yield
        finally:
            self._free.set()

    def wait_until_it_hangs(self) -> None:
        """Wait until somebody waits for the disk."""
        assert self._hanging.wait(60)

    def has(self, path: str | os.PathLike[str]) -> int:
        """How many bytes of a file are on the disk."""
        return self.synced.get(os.stat(path).st_ino, 0)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    """A disk in place of the system's."""
    return Disk(monkeypatch)

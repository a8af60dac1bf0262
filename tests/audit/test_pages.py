"""The file that is being written: lines one after the other, nothing half done, nothing mapped into
memory."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from stanchion.audit.chain import Pages
from stanchion.audit.errors import AuditLost
from stanchion.audit.trail import Trail
from stanchion.audit.verify import verify
from tests.audit.written import allowed, ids, moment


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """While this lasts, no file of this process gets longer than that."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_lines_of_every_length_stand_one_after_the_other(tmp_path: Path) -> None:
    """And what stands behind can be removed."""
    pages, offset, expected = Pages(tmp_path / "f"), 0, b""
    for number, size in enumerate((10, 300_000, 20, 1, 4096, 4095, 1)):
        line = bytes([65 + number]) * size
        pages.put(offset, line)
        offset += size
        expected += line
        assert (tmp_path / "f").read_bytes() == expected
        assert pages.size(offset) == offset
    pages.put(offset, b"more")
    pages.cut(offset)
    pages.close()
    assert (tmp_path / "f").read_bytes() == expected


def test_a_file_that_somebody_cut_stays_cut(tmp_path: Path) -> None:
    """It is not filled up with zeros, which would hide it."""
    pages = Pages(tmp_path / "f")
    pages.put(0, b"line\n")
    os.truncate(tmp_path / "f", 2)
    assert pages.size(5) == 2
    pages.cut(5)
    assert (tmp_path / "f").read_bytes() == b"li"
    pages.close()


def test_a_line_that_was_interrupted_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody was told that it is written: the next one takes its place, and nothing of it shows
    behind."""
    pages = Pages(tmp_path / "f")
    pages.put(0, b"one\n")
    write = os.write

    def interrupted(file: int, data: bytes) -> int:
        write(file, data)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "write", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pages.put(4, b"a long line that was interrupted\n")
    monkeypatch.setattr(os, "write", write)
    assert pages.size(4) == 4
    pages.put(4, b"two\n")
    assert (tmp_path / "f").read_bytes() == b"one\ntwo\n"
    pages.close()


def test_a_full_disk_is_an_error_and_not_the_end_of_the_process(tmp_path: Path) -> None:
    """What fitted before still stands, and it goes on when there is room again."""
    trail = Trail(tmp_path)
    about = moment("e1")
    trail.write(about, allowed(about), 0)
    (segment,) = tmp_path.rglob("*.jsonl")
    written = ["e1"]
    with room_for(segment.stat().st_size + 5_000):
        for number in range(2, 2_000):
            about = moment(f"e{number}")
            with suppress(AuditLost):
                trail.write(about, allowed(about), 0)
                written.append(about.id)
            if trail.trouble:
                break
        assert trail.trouble
        with suppress(AuditLost):
            for _ in range(20):
                trail.probe()
        with pytest.raises(AuditLost):
            trail.probe()
    trail.probe()
    about = moment("last")
    trail.write(about, allowed(about), 0)
    trail.close()
    assert ids(tmp_path) == [*written, "last"]
    assert verify(tmp_path).whole

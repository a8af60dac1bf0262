"""The file that is being written: room prepared on the disk, lines copied into it, nothing half done."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from stanchion.audit.errors import AuditLost
from stanchion.audit.pages import CAN_MAP, STEP, Mapped, Pages, Written
from stanchion.audit.trail import Trail
from stanchion.audit.verify import verify
from tests.audit.written import allowed, ids, moment

OPEN: list[Callable[[Path], Pages]] = [Written, *([Mapped] if CAN_MAP else [])]


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """While this lasts, no file of this process gets longer than that."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("opened", OPEN)
def test_lines_of_every_length_stand_one_after_the_other(tmp_path: Path, opened: Callable[[Path], Pages]) -> None:
    """Also those that are longer than what is prepared at a time, and those that cross its end."""
    pages, offset, expected = opened(tmp_path / "f"), 0, b""
    for number, size in enumerate((10, STEP - 15, 20, 1, 3 * STEP, 4096, 4095, 1)):
        line = bytes([65 + number]) * size
        pages.put(offset, line)
        offset += size
        expected += line
        assert (tmp_path / "f").read_bytes()[:offset] == expected
        assert pages.intact(offset)
    pages.cut(offset)
    assert (tmp_path / "f").read_bytes() == expected
    assert pages.intact(offset)
    pages.put(offset, b"more")
    pages.cut(offset + 4)
    pages.close()
    assert (tmp_path / "f").read_bytes() == expected + b"more"


@pytest.mark.parametrize("opened", OPEN)
def test_a_file_that_somebody_touched_is_noticed(tmp_path: Path, opened: Callable[[Path], Pages]) -> None:
    """Longer, shorter, or gone."""
    pages = opened(tmp_path / "f")
    pages.put(0, b"line\n")
    size = (tmp_path / "f").stat().st_size
    with (tmp_path / "f").open("ab") as other:
        other.write(b"x")
    assert not pages.intact(5)
    os.truncate(tmp_path / "f", size)
    assert pages.intact(5)
    (tmp_path / "f").unlink()
    assert not pages.intact(5)
    pages.close()


@pytest.mark.skipif(not CAN_MAP, reason="the system cannot take room on the disk beforehand")
def test_a_full_disk_is_an_error_and_not_the_end_of_the_process(tmp_path: Path) -> None:
    """Room is taken before it is used; what fitted before still stands, and it goes on when there is room again."""
    trail = Trail(tmp_path)
    about = moment("e1")
    trail.write(about, allowed(about), 0)
    (segment,) = tmp_path.rglob("*.jsonl")
    written = ["e1"]
    with room_for(segment.stat().st_size):
        for number in range(2, 2_000):
            about = moment(f"e{number}")
            with suppress(AuditLost):
                trail.write(about, allowed(about), 0)
                written.append(about.id)
            if trail.trouble:
                break
        assert "too large" in trail.trouble
        with pytest.raises(AuditLost):
            trail.probe()
    trail.probe()
    about = moment("last")
    trail.write(about, allowed(about), 0)
    trail.close()
    assert ids(tmp_path) == [*written, "last"]
    assert verify(tmp_path).whole


@pytest.mark.skipif(not CAN_MAP, reason="the system cannot take room on the disk beforehand")
def test_a_line_that_was_interrupted_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody was told that it is written: the next one takes its place, and nothing of it shows behind."""
    pages = Mapped(tmp_path / "f")
    pages.put(0, b"one\n")
    pages.put(4, b"a long line that was interrupted\n")
    pages._unsure = 4 + 33
    pages.put(4, b"two\n")
    assert (tmp_path / "f").read_bytes().rstrip(b"\0") == b"one\ntwo\n"
    pages.close()


@pytest.mark.skipif(not CAN_MAP, reason="the system cannot take room on the disk beforehand")
def test_room_that_cannot_be_taken_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is the disk's own."""
    pages = Mapped(tmp_path / "f")

    def full(_file: int, _start: int, _size: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="full"):
        pages.put(0, b"one\n")
    assert (tmp_path / "f").read_bytes() == b""
    pages.close()

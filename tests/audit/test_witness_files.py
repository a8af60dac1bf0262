"""A witness in a file: torn lines, several writers, pipes, and files that can only be appended
to."""

from __future__ import annotations

import fcntl
import os
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from stanchion.audit.verifying.rewritable import attributes, why_rewritable
from stanchion.audit.verifying.witness import read_witness
from stanchion.audit.witnessing.files import TAIL, FilePlace
from stanchion.audit.witnessing.place import BadPlace, Unreachable, WitnessEntry
from tests.audit.forging import ONE, Draft
from tests.ops.broker.brokers import AGENT_UID, interpreter, open_folder, python_as

HEAD = Draft(ONE).begin().work(3).mark().head or b""
SETFLAGS = 0x40000000 | struct.calcsize("l") << 16 | ord("f") << 8 | 2


def entry(mine: bytes = b"", heads: tuple[bytes, ...] = (HEAD,)) -> WitnessEntry:
    """Something to write."""
    return WitnessEntry(heads, 1_700_000_000_000, 60, mine)


@pytest.fixture
def place(tmp_path: Path) -> FilePlace:
    """A file that is not there yet."""
    return FilePlace(tmp_path / "w.jsonl")


def test_it_is_closed_to_others(place: FilePlace) -> None:
    place.append(entry())
    assert place.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("kept", [0, 1, 20, 200, -1])
def test_what_a_crash_left_is_stepped_over(place: FilePlace, kept: int) -> None:
    first = place.append(entry())
    whole = place.append(entry(first.line)).line
    torn = whole[:kept]
    data = place.path.read_bytes()
    place.path.write_bytes(data[: data.index(b"\n") + 1] + torn)
    after = FilePlace(place.path)
    after.append(entry())
    after.append(entry())
    found = read_witness("w", place.path.read_bytes(), "a copy")
    assert found.broken == ()
    assert len(found.lines) == 3


def test_the_newest_line_is_found_behind_a_long_one(place: FilePlace) -> None:
    first = place.append(entry())
    place.append(entry(first.line, (HEAD,) * (TAIL // 100)))
    place.append(entry())
    with place.path.open("ab") as file:
        file.write(b"x" * (3 * TAIL))
    FilePlace(place.path).append(entry())
    found = read_witness("w", place.path.read_bytes(), "a copy")
    assert (len(found.lines), found.broken) == (4, ())


def test_many_writers_make_one_chain(place: FilePlace) -> None:
    def write() -> None:
        own, mine = FilePlace(place.path), b""
        for _ in range(8):
            mine = own.append(entry(mine)).line

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = read_witness("w", place.path.read_bytes(), "a copy")
    assert (len(found.lines), found.broken, found.notes) == (32, (), ())


def test_a_file_that_was_put_back_shows_the_lost_line(place: FilePlace) -> None:
    first = place.append(entry())
    before = place.path.read_bytes()
    second = place.append(entry(first.line))
    place.path.write_bytes(before)
    third = place.append(entry(second.line))
    assert "put an earlier witness back" in third.note
    assert [number for number, _ in place.witness(0).broken] == [2]


def test_a_disk_that_is_full_is_told_and_tried_again(place: FilePlace) -> None:
    import resource

    mine = place.append(entry()).line
    size = place.path.stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50, hard))
    try:
        with pytest.raises(Unreachable, match="has reached its size limit"):
            place.append(entry(mine))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert place.path.stat().st_size == size + 50
    assert place.append(entry(mine)).note == ""
    found = place.witness(0)
    assert (len(found.lines), found.broken) == (2, ())


@pytest.mark.parametrize("name", ["none/w.jsonl", "file/w.jsonl"])
def test_a_place_that_cannot_be_is_told(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Unreachable, match="cannot be written"):
        FilePlace(tmp_path / name).append(entry())


def test_a_folder_is_no_place(tmp_path: Path) -> None:
    with pytest.raises(BadPlace, match="give a file in it"):
        FilePlace(tmp_path).append(entry())
    with pytest.raises(BadPlace, match="is not a file"):
        FilePlace(Path("/dev/null")).append(entry())


def test_a_file_that_another_process_holds_is_told(
    place: FilePlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stanchion.audit.witnessing.files.LOCK_TRIES", 1)
    place.append(entry())
    with place.path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(Unreachable, match="another process has locked"):
            place.append(entry())


def test_a_pipe_takes_lines_while_somebody_reads(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    place = FilePlace(tmp_path / "pipe")
    with pytest.raises(Unreachable, match="nobody reads the pipe"):
        place.append(entry())
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        first = place.append(entry())
        place.append(entry(first.line))
        found = read_witness("w", os.read(reader, 1 << 16))
    finally:
        os.close(reader)
    with pytest.raises(Unreachable, match="nobody reads the pipe"):
        place.append(entry())
    place.close()
    assert (len(found.lines), found.broken, found.notes) == (2, (), ())
    with pytest.raises(Unreachable, match="give the file that its reader writes"):
        place.witness(0)


def test_a_reader_that_does_not_take_a_line_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stanchion.audit.witnessing.files.PIPE_S", 0.0)
    os.mkfifo(tmp_path / "pipe")
    place = FilePlace(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(Unreachable, match="did not take a line"):
            place.append(entry(heads=(HEAD,) * 2000))
        taken = b""
        while part := os.read(reader, 1 << 16) if _has_more(reader) else b"":
            taken += part
        place.append(entry())
        found = read_witness("w", taken + os.read(reader, 1 << 16))
    finally:
        os.close(reader)
        place.close()
    assert len(found.lines) == 1
    assert "a crash left it" in found.notes[0]


def _has_more(reader: int) -> bool:
    import select

    return bool(select.select([reader], [], [], 0)[0])


@pytest.fixture
def append_only() -> Iterator[Path]:
    """A file of root's that everybody may append to, and nobody may rewrite."""
    if os.geteuid() != 0:
        pytest.skip("only root makes a file append-only")
    with open_folder() as folder:
        file = folder / "w.jsonl"
        file.touch()
        file.chmod(0o666)
        with file.open("rb") as opened:
            try:
                fcntl.ioctl(opened, SETFLAGS, struct.pack("l", 0x20))
            except OSError:
                pytest.skip("this file system keeps no attributes")
        try:
            yield file
        finally:
            with file.open("rb") as opened:
                fcntl.ioctl(opened, SETFLAGS, struct.pack("l", 0))


def test_a_file_that_can_only_be_appended_to_is_no_copy(append_only: Path) -> None:
    assert attributes(append_only) & 0x20
    assert why_rewritable(append_only, AGENT_UID) == ""
    place = FilePlace(append_only)
    place.append(entry(place.append(entry()).line))
    found = place.witness(AGENT_UID)
    assert (len(found.lines), found.broken, found.copy) == (2, (), "")


WRITES = """
import os, sys
from pathlib import Path
from stanchion.audit.witnessing.files import FilePlace
from stanchion.audit.witnessing.place import WitnessEntry
kept, unread = map(Path, sys.argv[1:3])
entry = WitnessEntry((sys.argv[3].encode(),), 1_700_000_000_000, 60)
for path in (kept, kept, unread, unread):
    FilePlace(path).append(entry)
for change in (
    lambda: os.truncate(kept, 0),
    lambda: open(kept, "r+b"),
    lambda: os.unlink(kept),
    lambda: os.rename(kept, f"{kept}.x"),
    lambda: open(unread, "rb"),
):
    try:
        change()
        print("changed")
    except PermissionError:
        pass
print("copy" if FilePlace(kept).witness(os.geteuid()).copy else "kept")
"""


@pytest.mark.skipif(interpreter(AGENT_UID) is None, reason="only root can be other users")
def test_an_agent_appends_and_cannot_rewrite(append_only: Path) -> None:
    unread = append_only.parent / "unread.jsonl"
    unread.touch()
    unread.chmod(0o622)
    program = python_as(AGENT_UID, "-c", WRITES, str(append_only), str(unread), HEAD.decode())
    said, trouble = program.communicate()
    assert said == "kept\n", trouble
    found = FilePlace(append_only).witness(AGENT_UID)
    assert (len(found.lines), found.broken, found.notes) == (2, (), ())
    anew = read_witness("w", unread.read_bytes())
    assert len(anew.lines) == 2, "who cannot read starts over each time"
    assert "starts over" in anew.notes[0]

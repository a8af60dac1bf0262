"""What may hold words outside the records of a trail: pieces that a crash left, damaged lines, and
files of others."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from stanchion import typed
from stanchion.audit.chain_lock import is_written
from stanchion.audit.erasure import Meant
from stanchion.audit.layout import (
    CUT,
    DOUBT,
    HEAD,
    HEAD_NEW,
    LOCK,
    SEGMENT,
    ChainHead,
    chains,
    segment_file,
    segments,
)
from stanchion.audit.reader import TrailReader
from stanchion.audit.segment_scan import is_text, stretches, stretches_back

OWN: Final = frozenset({HEAD, HEAD_NEW, LOCK, DOUBT})
"""Files of a chain that are no segments and no pieces."""

DAMAGED: Final = (
    "a line that cannot be read, and so cannot be erased: replace the file with an intact copy and "
    "erase again, or overwrite those bytes by hand; `stanchion audit verify` says what was done to "
    "it"
)
WRITTEN: Final = (
    "the beginning of a record that is still being written: erase again when it is complete"
)
UNFIT: Final = (
    "the beginning of a record in a chain that cannot be continued: `stanchion audit verify` says "
    "why; truncate the file at that byte by hand"
)
STRANGER: Final = "not part of a trail, so it was left alone: remove it yourself"
UNSEEN: Final = (
    "not part of a trail, and Stanchion cannot look into it: check yourself whether it has to be "
    "removed"
)


class Remain(msgspec.Struct, frozen=True):
    """Something that is still there, or may be: where, and what it is and what to do about it."""

    place: str
    what: str


class Tail(msgspec.Struct, frozen=True):
    """The beginning of a record, at the end of a segment: where it begins, and its bytes."""

    chain: str
    number: int
    offset: int
    torn: bytes

    @property
    def place(self) -> str:
        """Where it is, for people."""
        return place_of(self.chain, self.number, self.offset)


def place_of(chain: str, number: int, offset: int) -> str:
    """A place in a trail, for people."""
    return f"{chain}/{segment_file(Path(), number)} from byte {offset}"


def pieces(folder: Path, meant: Meant) -> list[Path]:
    """Files beside chains in which a crash left pieces, and in which something that is meant may
    be."""
    return [
        path for name in chains(folder) for path in _pieces(folder / name) if _may_hold(path, meant)
    ]


def _pieces(chain: Path) -> Iterator[Path]:
    with os.scandir(chain) as entries:
        names = sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False))
    return (chain / name for name in names if name == HEAD_NEW or CUT.fullmatch(name))


def _may_hold(path: Path, meant: Meant) -> bool:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return False
    if path.name == HEAD_NEW:
        return not _is_head(data) and any(meant.is_in(line) for line in data.split(b"\n"))
    # What was cut off may be many lines: those behind a hole that the file system left are whole.
    *before, torn = data.split(b"\n")
    return (bool(torn) and meant.may_be_in(torn)) or any(
        meant.is_in(one) or (b"\0" in one and one.strip(b"\0") and meant.may_be_of(one))
        for one in before
    )


def _is_head(data: bytes) -> bool:
    try:
        typed.decode(data, ChainHead)
    except msgspec.MsgspecError:
        return False
    return True


def tails(folder: Path, meant: Meant) -> list[Tail]:
    """Beginnings of records at the end of segments, in which something that is meant may be."""
    each = (
        tail
        for name in chains(folder)
        for number in segments(folder / name)
        if (tail := _tail(folder, name, number))
    )
    return [tail for tail in each if meant.may_be_in(tail.torn)]


def _tail(folder: Path, name: str, number: int) -> Tail | None:
    for offset, data in stretches_back(segment_file(folder / name, number)):
        start = data.rfind(b"\n") + 1
        torn = data[start:].rstrip(b"\0")
        return Tail(name, number, offset + start, torn) if torn else None
    return None


def held_fast(folder: Path, meant: Meant) -> list[Remain]:
    """Beginnings of records that stayed when everything was cut off that can be."""
    return [
        Remain(tail.place, WRITTEN if is_written(folder / tail.chain) else UNFIT)
        for tail in tails(folder, meant)
    ]


def damaged(reader: TrailReader, meant: Meant) -> list[Remain]:
    """Lines that a reader has met and could not read, which may be of whom is meant: what they say
    is not known."""
    found = []
    for chain, number, offset in sorted(reader.unread):
        line = _line(segment_file(reader.folder / chain, number), offset)
        if line.strip(b"\0") and meant.may_be_of(line):
            found.append(Remain(place_of(chain, number, offset), DAMAGED))
    return found


def _line(path: Path, offset: int) -> bytes:
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return file.readline().rstrip(b"\n")
    except FileNotFoundError:
        return b""


def strangers(folder: Path, meant: Meant) -> list[Remain]:
    """Files in the folder of a trail that are no part of it, and hold what is meant, or cannot be
    looked into."""
    found = []
    for path in _foreign(folder):
        what = _in_stranger(path, meant)
        if what:
            found.append(Remain(path.relative_to(folder).as_posix(), what))
    return found


def _foreign(folder: Path) -> Iterator[Path]:
    """Every file, and every link, that is no part of a trail."""
    known = set(chains(folder))
    closed: list[OSError] = []
    for where, inner, files in os.walk(folder, onerror=closed.append):
        at = Path(where)
        in_chain = at.parent == folder and at.name in known
        links = [name for name in inner if (at / name).is_symlink()]
        for name in sorted([*files, *links]):
            path = at / name
            own = name in OWN or CUT.fullmatch(name) or SEGMENT.fullmatch(name)
            if not (in_chain and own and path.is_file() and not path.is_symlink()):
                yield path
    yield from (Path(error.filename) for error in closed)


def _in_stranger(path: Path, meant: Meant) -> str:
    """What is to be said of a file that is no part of a trail; empty where nothing of what is meant
    is in it."""
    if not os.path.lexists(path):
        return ""  # it was there under that name for a moment only, as the head of a chain is
    if path.is_symlink() or not path.is_file():
        return UNSEEN
    try:
        for _, data in stretches(path):
            for line in data.split(b"\n"):
                if meant.is_in(line):
                    return STRANGER
                if b"\0" in line or not is_text(line):
                    return UNSEEN
    except OSError:
        return UNSEEN
    return ""

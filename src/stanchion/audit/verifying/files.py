"""Reading a trail's folder: plain files only, links not followed, lines bounded."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

CHUNK: Final = 1 << 20
LONGEST: Final = 64 << 20
OVERLONG: Final = b"(a line of more than 64 MiB)"
"""Stands for a line that is too long to be read; no record looks like it."""

HOLE: Final = bytes(8)
"""What a file system leaves of pages that a crash kept it from writing has no fewer zeros than
these."""

Tick = Callable[[int], None]
"""Is told how many more bytes were read."""

_FOLDER: Final = re.compile(r"[0-9a-f]{16}")
_SEGMENT: Final = re.compile(r"([0-9]{8,18})\.jsonl")
CUT: Final = re.compile(r"cut\.([0-9]{1,18})")


class NotPlain(OSError):
    """A link, a folder or a device stands where a plain file belongs."""


@dataclass(frozen=True, slots=True)
class ChainFiles:
    """The files of one chain as they were listed: the numbers of its segments, in order, and what
    is none of it."""

    path: Path
    chain: str
    numbers: tuple[int, ...]
    strangers: tuple[str, ...]

    @classmethod
    def of(cls, path: Path) -> ChainFiles:
        """List a chain's folder."""
        numbers, strangers = [], []
        for name in sorted(os.listdir(path)):
            match = _SEGMENT.fullmatch(name)
            if match and segment_name(int(match[1])) == name:
                numbers.append(int(match[1]))
            elif name not in ("head", "head.new", "lock", "doubt") and not CUT.fullmatch(name):
                strangers.append(name)
        return cls(path, path.name, tuple(sorted(numbers)), tuple(strangers))

    def open(self, number: int) -> BinaryIO:
        """One of its segments for reading."""
        return open_plain(self.path / segment_name(number))

    def sizes(self) -> dict[tuple[str, int], int]:
        """How long each segment is now; one that went away meanwhile is left out."""
        found = {}
        for number in self.numbers:
            try:
                found[self.chain, number] = (self.path / segment_name(number)).lstat().st_size
            except FileNotFoundError:
                continue
        return found


def segment_name(number: int) -> str:
    """The file name of a segment."""
    return f"{number:08d}.jsonl"


def chain_folders(folder: Path) -> tuple[list[Path], list[Path], list[str]]:
    """The chains in a trail's folder; links and files that bear a chain's name; the names of
    whatever else is there."""
    chains, false, strangers = [], [], []
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if not _FOLDER.fullmatch(entry.name):
            strangers.append(entry.name)
        elif entry.is_dir(follow_symlinks=False):
            chains.append(folder / entry.name)
        else:
            false.append(folder / entry.name)
    return chains, false, strangers


def open_plain(path: Path) -> BinaryIO:
    """A plain file for reading; raises `NotPlain` for anything else, and never waits for it."""
    if path.is_symlink():
        raise NotPlain("it is a link, and links are not followed")
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    descriptor = os.open(path, flags)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotPlain("it is not a plain file")
    return open(descriptor, "rb", buffering=0)


def batches(file: BinaryIO, tick: Tick | None = None) -> Iterator[tuple[list[bytes], bool]]:
    """The lines of a file as long as it is now, without their line feeds, many at a time.

    What stands behind the last line feed comes at the end, by itself, marked as not complete.
    """
    left = os.fstat(file.fileno()).st_size
    pieces: list[bytes] = []  # of the line that is not at its end yet
    length, zeros = 0, False
    while left > 0 and (chunk := file.read(min(CHUNK, left))):
        left -= len(chunk)
        if tick is not None:
            tick(len(chunk))
        lines = chunk.split(b"\n")
        if pieces or len(lines) == 1:
            length += len(lines[0])
            zeros |= HOLE in lines[0]
            pieces = [*pieces, lines[0]] if length <= LONGEST else [OVERLONG]
            if len(lines) == 1:
                continue
            lines[0] = _joined(pieces, zeros)
        rest = lines.pop()
        pieces, length, zeros = [rest] if rest else [], len(rest), HOLE in rest
        yield lines, True
    if pieces:
        yield [_joined(pieces, zeros)], False


def _joined(pieces: list[bytes], zeros: bool) -> bytes:
    if pieces == [OVERLONG]:
        return OVERLONG + HOLE if zeros else OVERLONG
    return b"".join(pieces)


# Files beside a chain that are no records: what a crash left there, and whether it still holds what
# was said.

HEAD_NEW: Final = "head.new"

_SAID: Final = re.compile(rb',"kept":\{"salt":"[0-9a-f]{32}",.', re.DOTALL).search
"""How what was said begins in a record: behind its salt."""

Beside = dict[str, tuple[int, int]]
"""Such files by their names, each as it is known from another of that name: its number on the disk,
and its age."""


def beside(chain: Path) -> Beside:
    """The files that a crash left in a chain's folder; none where it cannot be read."""
    found = {}
    try:
        for name in sorted(os.listdir(chain)):
            if name == HEAD_NEW or CUT.fullmatch(name):
                seen = (chain / name).lstat()
                found[name] = (seen.st_ino, seen.st_mtime_ns)
    except OSError:
        return found
    return found


def noted(chain: Path, before: Beside) -> Iterator[str]:
    """What is to be said of such files. A head that is being written has that name, too, for a
    moment: only files count that were there `before`."""
    for name, known in beside(chain).items():
        if before.get(name) != known:
            continue
        try:
            with open_plain(chain / name) as file:
                data = file.read()
        except FileNotFoundError:
            continue
        except (NotPlain, OSError) as error:
            yield f"{name} cannot be read: {error.strerror or error}"
            continue
        said = (
            "still holds content: `stanchion audit erase` removes it"
            if _SAID(data)
            else "holds no content"
        )
        number = CUT.fullmatch(name)
        what = "a new head that was not renamed because of a crash"
        if number is not None:
            what = f"an unfinished part of record {int(number[1])}, cut off after a crash"
        yield f"{name} ({len(data)} bytes) is {what}; nothing reads it, and it {said}"


# Reading JSON from files that anybody may have written to.

_HASH: Final = re.compile(r"[0-9a-f]{64}")
_CHAIN: Final = re.compile(r"[0-9a-f]{16}")


class TooDeep(ValueError):
    """JSON that is nested deeper than this interpreter reads."""


def parsed(text: bytes) -> Any:
    """Parse JSON; raises `ValueError`. An object in which a name stands twice has the key None."""
    try:
        return _decode(text.decode())
    except RecursionError:
        raise TooDeep("it is nested too deeply to be read") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str | None, Any]:
    found: dict[str | None, Any] = dict(pairs)
    if len(found) != len(pairs):
        found[None] = True
    return found


def _integer(text: str) -> int | float:
    return int(text) if len(text) < 20 else float(text)


_decode = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer).decode


def is_hash(value: object) -> bool:
    """Whether a value is a hash as the format writes it."""
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def is_chain(value: object) -> bool:
    """Whether a value is the id of a chain."""
    return isinstance(value, str) and _CHAIN.fullmatch(value) is not None


def is_count(value: object) -> bool:
    """Whether a value is a whole number that is not negative."""
    return type(value) is int and value >= 0

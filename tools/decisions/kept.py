"""What is kept of a playing: a file with a line for each decision. The first line says what it
holds; a decision stands in full where it comes for the first time, and as its hash afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

FORMAT: Final = 2


class NotKept(Exception):
    """A file is not there or is none of ours; the text says what to do."""


class Holds(msgspec.Struct, frozen=True):
    """What a file holds: how many cases and decisions of each source, which part of all, and from
    what events."""

    decisions_of: dict[str, int]
    cases_of: dict[str, int]
    part: tuple[int, int] = (1, 1)
    seed: str = ""
    stanchion_decisions: int = FORMAT

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources that were played."""
        return tuple(self.cases_of)

    def words(self) -> str:
        """What it holds, in a line."""
        said = [
            f"{name} {self.cases_of[name]:,} cases, {count:,} lines"
            for name, count in self.decisions_of.items()
        ]
        part = "" if self.part == (1, 1) else f" (part {self.part[0]}/{self.part[1]})"
        return f"{'; '.join(said)}{part}"


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that a caller got (level 1) or that was written down (level 2): its name, the hash
    of its case, and the hash of itself."""

    id: str
    case: str
    is_: str = msgspec.field(name="is")
    level: int = 1
    told: msgspec.Raw = msgspec.Raw()


class Kept(msgspec.Struct, frozen=True):
    """What was played: what that is, the lines by their names, and what each hash stands for, as
    JSON."""

    holds: Holds
    lines: dict[str, Line]
    told: dict[str, bytes]


def kept(holds: Holds, lines: Iterable[Line]) -> Kept:
    """What is kept of lines: what each hash stands for is kept once."""
    named: dict[str, Line] = {}
    told: dict[str, bytes] = {}
    for line in lines:
        full = bytes(line.told)
        if full:
            told.setdefault(line.is_, full)
        named[line.id] = Line(line.id, line.case, line.is_, line.level)
    return Kept(holds, named, told)


def write(file: Path, kept: Kept) -> None:
    """Write a file: all of it, or nothing."""
    beside = file.with_name(f"{file.name}.{os.getpid()}.new")
    try:
        with beside.open("wb") as out:
            out.write(msgspec.json.encode(kept.holds) + b"\n")
            seen: set[str] = set()
            for line in kept.lines.values():
                full = Line(
                    line.id, line.case, line.is_, line.level, msgspec.Raw(kept.told[line.is_])
                )
                out.write(msgspec.json.encode(line if line.is_ in seen else full) + b"\n")
                seen.add(line.is_)
        beside.replace(file)
    except OSError as error:
        raise NotKept(
            f"`{file}` cannot be written: {error.strerror}: name a file in a folder that is there"
        ) from None
    finally:
        beside.unlink(missing_ok=True)


def read(file: Path) -> Kept:
    """Read a file that `write` has made; raises `NotKept` where it is none."""
    try:
        text = file.read_bytes()
    except OSError as error:
        raise NotKept(
            f"`{file}` cannot be read: {error.strerror}: make one with `write {file}`"
        ) from None
    first, _, rest = text.partition(b"\n")
    try:
        holds = msgspec.json.decode(first, type=Holds)
        if holds.stanchion_decisions != FORMAT or b"stanchion_decisions" not in first:
            raise ValueError("another format")
    except ValueError:
        raise NotKept(
            f"`{file}` is not a file of decisions, or of another version: make one with `write`"
        ) from None
    found = kept(holds, _lines(file, rest))
    count = sum(holds.decisions_of.values())
    if len(found.lines) != count or any(
        line.is_ not in found.told for line in found.lines.values()
    ):
        raise NotKept(
            f"`{file}` has {len(found.lines):,} of its {count:,} lines: it was cut, make it anew"
        )
    return found


def _lines(file: Path, text: bytes) -> Iterator[Line]:
    decoder = msgspec.json.Decoder(Line)
    for number, line in enumerate(text.splitlines(), 2):
        try:
            yield decoder.decode(line)
        except ValueError as error:
            raise NotKept(
                f"{file}:{number}: is no line of decisions: {str(error).lower()}"
            ) from None

"""What is kept of a playing: a file with a line for each decision. The first line says what it holds; a decision stands
in full where it comes for the first time, and as its hash afterwards."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

FORMAT: Final = 1


class NotKept(Exception):
    """A file is not there or is none of ours; the text says what to do."""


class Holds(msgspec.Struct, frozen=True):
    """What a file holds: how many cases and decisions of each source, which part of all, and from what events."""

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
        said = [f"{name} {self.cases_of[name]:,} cases, {count:,} lines" for name, count in self.decisions_of.items()]
        part = "" if self.part == (1, 1) else f" (part {self.part[0]}/{self.part[1]})"
        return f"{'; '.join(said)}{part}"


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that was decided or told: its name, the hash of its case, and the hash of itself."""

    id: str
    case: str
    is_: str = msgspec.field(name="is")
    told: msgspec.Raw = msgspec.Raw()


class Kept(msgspec.Struct, frozen=True):
    """A file that was read: what it holds, the lines by their names, and what each hash stands for."""

    holds: Holds
    lines: dict[str, Line]
    told: dict[str, msgspec.Raw]


def write(file: Path, holds: Holds, lines: list[Line]) -> None:
    """Write a file: all of it, or nothing."""
    beside = file.with_name(f"{file.name}.{os.getpid()}.new")
    try:
        with beside.open("wb") as out:
            out.write(msgspec.json.encode(holds) + b"\n")
            seen: set[str] = set()
            for line in lines:
                out.write(msgspec.json.encode(_once(line, seen)) + b"\n")
        beside.replace(file)
    except OSError as error:
        raise NotKept(f"`{file}` cannot be written: {error.strerror}: name a file in a folder that is there") from None
    finally:
        beside.unlink(missing_ok=True)


def _once(line: Line, seen: set[str]) -> dict[str, Any]:
    told = {} if line.is_ in seen else {"told": line.told}
    seen.add(line.is_)
    return {"id": line.id, "case": line.case, "is": line.is_, **told}


def read(file: Path) -> Kept:
    """Read a file that `write` has made; raises `NotKept` where it is none."""
    try:
        text = file.read_bytes()
    except OSError as error:
        raise NotKept(f"`{file}` cannot be read: {error.strerror}: make one with `write {file}`") from None
    first, _, rest = text.partition(b"\n")
    try:
        holds = msgspec.json.decode(first, type=Holds)
        if holds.stanchion_decisions != FORMAT or b"stanchion_decisions" not in first:
            raise ValueError("another format")
    except ValueError:
        raise NotKept(f"`{file}` is no file of decisions, or of another version: make one with `write`") from None
    lines: dict[str, Line] = {}
    told: dict[str, msgspec.Raw] = {}
    for line in _lines(file, rest):
        lines[line.id] = line
        if bytes(line.told):
            told[line.is_] = line.told
    if len(lines) != sum(holds.decisions_of.values()):
        raise NotKept(f"`{file}` has {len(lines):,} lines and says that it has others: it was cut, make it anew")
    return Kept(holds, lines, told)


def _lines(file: Path, text: bytes) -> Iterator[Line]:
    decoder = msgspec.json.Decoder(Line)
    for number, line in enumerate(text.splitlines(), 2):
        try:
            yield decoder.decode(line)
        except ValueError as error:
            raise NotKept(f"{file}:{number}: is no line of decisions: {str(error).lower()}") from None

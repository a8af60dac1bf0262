"""Programs and their options, from Debian's index and from help texts; `tools/programs.py` gathers
them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

import msgspec

FILE: Final = "programs.jsonl"


class Program(msgspec.Struct, frozen=True):
    """A program: the section of Debian that it is in, options that run a command, plain switches,
    and options that take a number."""

    name: str
    section: str = ""
    runs: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()


@cache
def programs() -> tuple[Program, ...]:
    """All programs, in the order of the file."""
    text = files("stanchion_lab.fresh").joinpath(FILE).read_bytes()
    return tuple([msgspec.json.decode(line, type=Program) for line in text.splitlines()])

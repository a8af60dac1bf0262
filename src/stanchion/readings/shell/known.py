"""What programs do with their words: the table that all readings ask, made of
`programs/*.yaml` by `python -m tools.program_table`."""

from __future__ import annotations

from collections.abc import Callable
from pkgutil import get_data
from typing import Any, Final, TypeVar

import msgspec

from stanchion import typed
from stanchion.readings.word_lists import Strings, listed, sections

T = TypeVar("T")

FILE: Final = "programs.jsonl"
"""The table as it ships: a line for all programs of which the same is known."""


class OwnWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How a program's own words end before those of the command that it starts: options that stand
    alone or have a value, operands, settings of variables; by which word it starts it, and which
    option names the folder that it starts it in."""

    values: str = ""
    alone: str = ""
    skip: int = 0
    settings: bool = False
    privileged: bool = False
    by: str = ""
    folder: str = ""


class GivenCode(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How a program takes code: behind which options, or as an operand; in which dialect."""

    behind: str = ""
    operands: bool = False
    dialect: str = ""


class ProgramUse(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    rename={"kinds": "is"},
):
    """What programs do with their words. Lists are words with blanks between; of which `kinds`
    they are stands in `programs/kinds.txt`.

    `values` are options that take the next word. With `passes` a program starts the command behind
    its own words, with `ends_as` it ends as that does and does nothing else, with `runs` it starts
    a script or a program of a project. `code` and `sql` is what it is given to run. `takes` says
    what becomes of the file or host behind an option, `operands` of those that stand alone, `into`
    by which options any file is written, `rewrites` with which words operands are: `always`, or one
    of these. `tells` are words by which it prints a secret, `shows` those by which it is asked for
    one, whatever stands between. `host` is the option that names one.
    """

    kinds: str = ""
    values: str = ""
    passes: OwnWords | None = None
    ends_as: OwnWords | None = None
    runs: OwnWords | None = None
    code: GivenCode | None = None
    sql: GivenCode | None = None
    takes: dict[str, str] = {}
    operands: str = ""
    into: str = ""
    rewrites: str = ""
    tells: Strings = ()
    shows: Strings = ()
    host: str = ""


class KnownPrograms(ProgramUse, frozen=True):
    """What is known of the programs of these names."""

    names: str


def _read() -> list[KnownPrograms]:
    body = get_data("stanchion.readings.shell", FILE)
    return list(map(typed.reader(KnownPrograms).decode, [] if body is None else body.splitlines()))


WORDS: Final = sections("stanchion.readings.shell", "words.txt")
"""The words that are asked for of every program, by the titles above them."""
TABLE: Final = _read()


def named(*kinds: str) -> frozenset[str]:
    """The names of the programs that are of one of these kinds."""
    wanted = frozenset(kinds)
    return frozenset(
        [
            name
            for known in TABLE
            if not wanted.isdisjoint(known.kinds.split())
            for name in known.names.split()
        ]
    )


def by_name(word: str, make: Callable[[Any], T]) -> dict[str, T]:
    """What one word of the table says of each program of which it says something."""
    told = [(known, said) for known in TABLE if (said := getattr(known, word))]
    return {
        name: made for known, said in told for made in [make(said)] for name in known.names.split()
    }


KINDS: Final = by_name("kinds", listed)
NO_KINDS: Final[frozenset[str]] = frozenset()


def kinds_of(name: str) -> frozenset[str]:
    """Of which kinds a program is; `programs/kinds.txt` says what each of them does."""
    return KINDS.get(name, NO_KINDS)

"""What programs do with their words: the table that all readings ask, made of
`programs/*.yaml` by `python -m tools.program_table`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pkgutil import get_data
from typing import Any, Final, Literal, TypeVar

import msgspec

from stanchion import typed
from stanchion.readings.word_lists import listed, sections

T = TypeVar("T")

FILE: Final = "programs.jsonl"
"""The table as it ships: a line for all programs of which the same is known."""

Kind = Literal[
    # With texts that they are given:
    "prints",  # say them
    "seeks",  # look for them, or compare them
    "keeps",  # turn, keep, count or send them
    "views",  # look at a file or show it; what else they are given may run
    "pages",  # show a file, and start a program where a word begins with `+!`
    "verbs",  # are told by their first words what to do, often by another program's name
    "silent",  # print nothing
    "more-runs",  # start a command, and their other words may run as well
    "walked",  # have words that are read as commands of their own
    "does",  # are known by their names among the words of another: they do, or start, something
    "known",  # are known by their names in a text alone
    # With files:
    "reads",  # read their operands
    "pattern-first",  # have a pattern or a program as their first operand
    "in-place",  # change what they read, where `-i` says so
    "makes",  # write their operands
    "makes-last",  # write their last operand
    "deletes",  # delete their operands
    "replaces",  # put another file in the place of their operands
    "copies",  # write what they read, as it is, packed or encrypted
    "copies-plainly",  # write it as it is
    "packs",  # take in whole folders
    "unpacks",  # make files of an archive
    "patches",  # change what the text that they read names
    "modes",  # change who may do what with their operands
    "lists",  # say where things are and how large, not what is in them
    "finds",  # print names that another one may open
    "names",  # to them a path is a name like any other, or their files are told apart
    "greps",  # search files
    "searches",  # search folders unasked
    "follows",  # go through what is in the files that `find` gives them, beside those that read
    "uses-keys",  # use a key without showing it
    # With others:
    "hosts",  # talk to their operands
    "web",  # speak whatever scheme they are given
    "asks-names",  # ask for a name, and for what kind of record
    "fetches",  # print what comes from elsewhere
    "hides",  # print something else than they are given
    "sends-out",  # send what they are given
    "uploads",  # send their operands, which are files
    "vault",  # keep secrets for people, and tell them one by one
    "starts",  # start another program in a place of its own: `run`, `exec`
    "unread",  # run code, by `-e`, of a language that is not read here
    "slashed",  # are Windows' own, whose options begin with a slash
]
"""What is said of a program by one word."""


class OwnWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How a program's own words end before those of the command that it starts: options that stand
    alone or have a value, operands, settings of variables; and by which word it starts it."""

    values: str = ""
    alone: str = ""
    skip: int = 0
    settings: bool = False
    privileged: bool = False
    by: str = ""


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
    """What programs do with their words. Lists are words with blanks between.

    `values` are options that take the next word. With `passes` a program starts the command behind
    its own words, with `ends_as` it ends as that does and does nothing else, with `runs` it starts
    a script or a program of a project. `code` and `sql` is what it is given to run. `takes` says
    what becomes of the file or host behind an option, `into` by which options any file is written,
    `rewrites` with which words operands are: `always`, or one of these. `tells` are words by which
    it prints a secret, whatever stands between; `shows` words that ask for one together. `host` is
    the option that names one.
    """

    kinds: str = ""
    values: str = ""
    passes: OwnWords | None = None
    ends_as: OwnWords | None = None
    runs: OwnWords | None = None
    code: GivenCode | None = None
    sql: GivenCode | None = None
    takes: dict[str, str] = {}
    into: str = ""
    rewrites: str = ""
    tells: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
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


def named(*kinds: Kind) -> frozenset[str]:
    """The names of the programs that are of one of these kinds."""
    wanted = frozenset(kinds)
    found: set[str] = set()
    for known in TABLE:
        if not wanted.isdisjoint(known.kinds.split()):
            found.update(known.names.split())
    return frozenset(found)


def by_name(word: str, make: Callable[[Any], T]) -> dict[str, T]:
    """What one word of the table says of each program of which it says something."""
    return {
        name: made
        for known in TABLE
        if (said := getattr(known, word)) is not None and said != () and said != "" and said != {}
        for made in [make(said)]
        for name in known.names.split()
    }


def words_by_name(word: str) -> dict[str, frozenset[str]]:
    """The words that one word of the table lists, for each program for which it does."""
    return by_name(word, listed)


def ways(said: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Lists of words, taken apart."""
    return tuple([tuple(way.split()) for way in said])

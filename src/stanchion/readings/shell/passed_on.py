"""Passing on: commands that start another one and end as it does, and that do nothing else."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.shell.known import by_name
from stanchion.readings.word_lists import listed

Settings = tuple[tuple[str, str], ...]


class Passing(NamedTuple):
    """The options with which a command still only passes on: those that stand alone, and those with
    a value; and how many operands it has before the other command. Short options with a value may
    have it in the same word."""

    alone: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    operands: int = 0
    settings: bool = False


PASSING: Final = by_name(
    "ends_as", lambda own: Passing(listed(own.alone), listed(own.values), own.skip, own.settings)
)
"""What is not written here may print, wait or start something else: an option that asks for help
keeps a command from running, one of `time` prints what it is given."""

SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
LETTERS: Final = frozenset("lceu")
"""Options of a shell that leave what its text does as it stands."""


class Started(NamedTuple):
    """A command that others pass on to, and the variables they set for it."""

    argv: tuple[str, ...]
    settings: Settings


def started(argv: tuple[str, ...]) -> Started | None:
    """The command that runs in the end, behind all that only pass on; `None` where one of them may
    do more."""
    settings: list[tuple[str, str]] = []
    while argv:
        passing = PASSING.get(argv[0].rpartition("/")[2])
        if passing is None:
            break
        at, left = 1, passing.operands
        while at < len(argv):
            word = argv[at]
            if word.startswith("-") and word != "-":
                if (
                    word == "--"
                    or word in passing.alone
                    or word.partition("=")[0] in passing.valued - {word}
                ):
                    at += 1
                elif word in passing.valued:
                    at += 2
                elif word[:2] in passing.valued and not word.startswith("--"):
                    at += 1
                else:
                    return None
            elif passing.settings and "=" in word:
                settings.append((word.partition("=")[0], word.partition("=")[2]))
                at += 1
            elif left:
                left -= 1
                at += 1
            else:
                break
        argv = argv[at:]
    return Started(argv, tuple(settings)) if argv else None


class Inner(NamedTuple):
    """A text that a shell is given to run, and whether a pipe in it fails where one of its parts
    does."""

    text: str
    pipefail: bool


def text_run_by(argv: tuple[str, ...]) -> Inner | None:
    """The text of `sh -c …`, where the shell's options leave it as it stands."""
    if argv[0].rpartition("/")[2] not in SHELLS:
        return None
    pipefail = False
    at = 1
    while at < len(argv) and argv[at].startswith("-"):
        letters = argv[at][1:]
        if not letters or not LETTERS.issuperset(letters.replace("o", "", 1)):
            return None
        at += 1
        if "o" in letters:
            if argv[at : at + 1] != ("pipefail",):
                return None
            pipefail = True
            at += 1
        if "c" in letters:
            return Inner(argv[at], pipefail) if len(argv) == at + 1 else None
    return None

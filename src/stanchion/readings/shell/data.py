"""Data: who only looks at a text, prints it or keeps it, so that nothing of it would run."""

from __future__ import annotations

from typing import Final

from stanchion.readings.shell.known import WORDS, named
from stanchion.readings.word_lists import listed

PRINTS: Final = named("prints")
"""Programs that say what they are given."""

LOOKS_FOR: Final = named("seeks")
"""Programs that look for it, or compare it."""


LOOKS: Final = named("views")
"""Programs that look at a file or show it; what else they are given may run."""

DATA: Final = named("prints", "seeks", "keeps")

VERBS: Final = named("verbs")
"""Programs whose first words say what to do, some of them by the name of another program (`git rm`,
`docker kill`)."""

FED: Final = VERBS | {"sed", "gsed"}
"""Programs that run nothing of what they read, whatever their words do."""

TOLD: Final = WORDS["options for people"]
"""Last words of options whose value is for people, or is looked for, whichever program has them."""
TOLD_SHORT: Final = frozenset({"-m", "-am", "-S", "-G"})
"""Short options that mean the same nearly everywhere; `-e` and `-c` are none of them."""


def is_told(option: str) -> bool:
    """Whether an option's value is for people, or is looked for."""
    return option in TOLD_SHORT or (
        option.startswith("--") and option[2:].rpartition("-")[2].lower() in TOLD
    )


def is_told_in(word: str) -> bool:
    """Whether a word is such an option with its value: `--body=…`, `-Sname`."""
    if word.startswith("--"):
        return is_told(word.partition("=")[0])
    return len(word) > 2 and word[:2] in TOLD_SHORT


RUNS: Final = WORDS["options that run"]
"""Last words of options whose value runs, even where the program treats everything else as data."""
RUNS_SHORT: Final = frozenset({("man", "-P"), ("man", "-H"), ("split", "--filter")})
SHELLS: Final = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash"})
MARKS: Final = ("+!", "!", ":!", "+:!")
"""How a word begins by which pagers and editors start a program."""
BEGIN: Final = frozenset("-+!:")
"""How every option begins that may have a command."""
PAGERS: Final = named("pages")
VARIABLES: Final = listed("LESSOPEN LESSCLOSE BASH_ENV ENV")
"""Variables that hold a command although their names do not say so."""


def is_run(name: str, option: str) -> bool:
    """Whether an option's value is a command."""
    if option[:1] not in BEGIN:
        return False
    if option.startswith("--"):
        own = option.partition("=")[0]
        return own[2:].rpartition("-")[2].lower() in RUNS or (name, own) in RUNS_SHORT
    return (name, option) in RUNS_SHORT or (name in PAGERS and option.startswith(MARKS))


def names_command(variable: str) -> bool:
    """Whether a variable's name says that its value is a command: `PAGER`, `GIT_SSH_COMMAND`."""
    return variable.rpartition("_")[2].lower() in RUNS or variable in VARIABLES

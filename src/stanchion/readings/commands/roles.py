"""Roles of arguments: what a call's arguments are to a command, by their names."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from stanchion.readings.commands.words import (
    ABOUT,
    BEHIND,
    CODES,
    COMMANDS,
    CONFIGS,
    CONTENTS,
    ENDS,
    INPUTS,
    LANGUAGES,
    PROGRAMS,
    SPOKEN,
    STDIN,
)
from stanchion.readings.names import KEPT, plain, words

COMMAND: Final = 1
CODE: Final = 2
INPUT: Final = 4
STDIN_TEXT: Final = 8
PROGRAM: Final = 16
BEHIND_IT: Final = 32
LANGUAGE: Final = 64
CONTENT: Final = 128
CONFIG: Final = 256
"""What an argument may be."""
SPOKEN_CODE: Final = 512
"""What is named after a language, and is code of it where it looks like code."""
RUN: Final = COMMAND | CODE | INPUT
BESIDE: Final = STDIN_TEXT | PROGRAM | BEHIND_IT | LANGUAGE
"""What says more about a command that stands beside it."""

_NAMED: Final = (
    (COMMANDS, COMMAND),
    (CODES, CODE),
    (INPUTS, INPUT),
    (STDIN, STDIN_TEXT),
    (PROGRAMS, PROGRAM),
    (BEHIND, BEHIND_IT),
    (SPOKEN, LANGUAGE),
    (CONTENTS, CONTENT),
    (CONFIGS, CONFIG),
)


@lru_cache(KEPT)
def role_of(name: str) -> int:
    """What the argument of a name may be; 0 where the name says nothing."""
    key = plain(name)
    role = sum([role for known, role in _NAMED if key in known])
    said = words(name)
    if said and said[-1] in ENDS and ABOUT.isdisjoint(said):
        role |= COMMAND
    return role if LANGUAGES.keys().isdisjoint(said) else role | SPOKEN_CODE

"""Statements: what one SQL statement would do, as far as its text says."""

from __future__ import annotations

from contextvars import ContextVar
from enum import IntEnum
from typing import Final, NamedTuple

import msgspec

TEXT: Final = "'"
NAME: Final = '"'
NUMBER: Final = "0"
"""How a string, a quoted name and a number are written among words."""

PARSING: Final = ContextVar("parsing", default=False)
"""Whether a text is being parsed here: what the parser then logs has the text in it."""


REMEMBERED_CHARS: Final = 4_096
"""Longer texts are read anew each time, so that what is remembered stays small."""

SECRET: Final = "holds passwords or keys"
CHANGES: Final = "changes the state of the server"


class Does(IntEnum):
    """What a statement does, ordered by severity."""

    READ = 0
    TRANSACTION = 1
    SESSION = 2
    UPKEEP = 3
    CALL = 4
    WRITE = 5
    DDL = 6
    ADMIN = 7
    PRIVILEGE = 8
    DESTRUCTIVE = 9
    UNKNOWN = 10


HARMLESS: Final = frozenset({Does.READ, Does.TRANSACTION, Does.SESSION})
"""What changes nothing that others see."""


class Effect(NamedTuple):
    """A function that does more than compute, and what it does besides."""

    name: str
    what: str


class Statement(msgspec.Struct, frozen=True):
    """One statement of a text.

    `verb` is how it is called in messages. `reads` and `writes` are tables by the names the text
    has for them, in small letters. `bounded` is false where an UPDATE or DELETE picks no rows.
    `calls` are all functions and procedures that it calls, `effects` those that do more than
    compute, `unknown` those of which nobody knows. `secrets` are tables and columns with passwords
    and keys that it gives out. `why` says why it is unclear, and is empty where it is not.
    """

    does: Does
    verb: str
    at: int = 1
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    bounded: bool = True
    calls: tuple[str, ...] = ()
    effects: tuple[Effect, ...] = ()
    unknown: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    why: str = ""


def unclear(why: str, verb: str = "?") -> tuple[Statement, ...]:
    """A text that is unclear as a whole."""
    return (Statement(Does.UNKNOWN, verb, why=why),)


def severity(statements: tuple[Statement, ...]) -> tuple[int, bool, int, int]:
    """By this the worst of several readings of one text is chosen."""
    worst = max([statement.does for statement in statements], default=Does.READ)
    return (
        worst,
        not all(statement.bounded for statement in statements),
        sum([len(statement.effects) for statement in statements]),
        len(statements),
    )

"""The words of a command that is proposed."""

from __future__ import annotations

from stanchion.readings.shell.parse import single
from stanchion.tutor.moves.typed import Propose


def argv_of(move: Propose) -> tuple[str, ...] | None:
    """The words of a command; `None` where its text is more than one command of literal words."""
    return move.argv if move.argv else single(move.command)


def runnable(word: str) -> bool:
    """Whether a program can be given a word: bytes that are no text would be another word to it
    than was seen."""
    return not any(one == "\0" or "\ud800" <= one <= "\udfff" for one in word)

"""Bodies: what a CREATE holds that runs later, or at once: a trigger's statements, a procedure's, a
view's query."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from stanchion.readings.sql.hidden import BEGINNING
from stanchion.readings.sql.lexer import TEXT
from stanchion.readings.sql.verbs import first_word, made_by
from stanchion.readings.word_lists import listed

_LATER: Final = listed("TRIGGER EVENT PROCEDURE FUNCTION RULE TASK ROUTINE")
_UNASKED: Final = listed("TRIGGER EVENT RULE TASK")
_QUERIES: Final = listed("TABLE VIEW")
_BEFORE: Final = listed("AS DO BEGIN ROW INSTEAD ALSO IS THEN STATEMENT ATOMIC")
_STARTS: Final = (BEGINNING - {"SET"}) | {"WITH", "BEGIN", "IF"}
_PLAIN: Final = listed("PLPGSQL SQL TSQL MYSQL")
"""Languages that bodies are read in."""


def body_of(words: list[str]) -> int:
    """Where the body of a CREATE begins, as words or as a text; 0 where it has none that can be
    read."""
    made = _made(words)
    if made in _QUERIES:
        return next(
            (
                at + 1
                for at, word in enumerate(words[:-1])
                if word == "AS" and _is_query(words, at + 1)
            ),
            0,
        )
    if made not in _LATER:
        return 0
    for at in range(3, len(words)):
        if words[at] == TEXT and words[at - 1] == "AS":
            return at if _is_read(words) else 0
        plain = words[at].partition(" ")[0]
        if (
            words[at - 1] in _BEFORE
            and plain in _STARTS
            and words[at + 1 : at + 2] not in (["FUNCTION"], ["PROCEDURE"])
        ):
            return at
    return 0


def runs_itself(words: list[str]) -> bool:
    """Whether what a CREATE makes runs without being called."""
    return _made(words) in _UNASKED


def _made(words: list[str]) -> str:
    if first_word(words) not in ("CREATE", "ALTER"):
        return ""
    return "PROCEDURE" if "PROC" in words[1:4] else made_by(words)


def _is_query(words: list[str], at: int) -> bool:
    return words[at] in ("SELECT", "WITH") or words[at : at + 2] in (["(", "SELECT"], ["(", "WITH"])


def _is_read(words: list[str]) -> bool:
    languages = [after for word, after in pairwise(words) if word == "LANGUAGE"]
    return all(language in _PLAIN for language in languages)

"""Blocks: statements between words that steer, as procedures, triggers and batches have them.

`IF @n > 1 DELETE …`, `BEGIN TRY …`, `FOR r IN SELECT … LOOP …`: what steers is taken off, and what
is left is read as any statement. What only steers changes nothing.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.sql import WORDS
from stanchion.readings.sql.dynamic import BEGINNING
from stanchion.readings.sql.lexer import Piece, is_name
from stanchion.readings.sql.statement import TEXT
from stanchion.readings.sql.verbs import KNOWN, PARSED, first_word, made_by
from stanchion.readings.word_lists import listed

MOST: Final = 64
"""How many words that steer are taken off one statement."""

_TO_THEN: Final = listed("IF ELSIF ELSEIF WHEN CASE")
_TO_LOOP: Final = listed("WHILE FOR FOREACH")
OPENING: Final = _TO_THEN | _TO_LOOP | listed("LOOP REPEAT ELSE EXCEPTION DECLARE")
"""Words that steer and that no statement begins with outside of a block."""
QUIET: Final = WORDS["quiet"]
"""First words of statements that change nothing that others see."""
_TRANSACTION: Final = WORDS["beginnings of transactions"]
_STARTING: Final = (
    (KNOWN - {"(", "FROM", "TABLE", "END", "VALUES"})
    | (QUIET - {"NULL", "OPEN", "CLOSE"})
    | {"BEGIN", "IF", "PERFORM"}
)
_STEERING: Final = regex(
    rf"""(?x)
      BEGIN\n(?:(?:TRY|CATCH|ATOMIC)\n|NOT\nATOMIC\n|(?!(?:{"|".join(_TRANSACTION)})\n)(?=[^\n]))
    | END\n(?!(?:TRANSACTION|TRAN|WORK)\n)
      (?:(?:TRY|CATCH|IF|LOOP|CASE|WHILE|FOR|REPEAT)\n|(?=(?:{"|".join(_STARTING)})\n)
      |(?:"|[^\W\d]\w*)\n)
    | <\n?<\n(?:[^\n]+\n){{0,5}}?>\n>\n
    | [^\n]+\n:\n(?=(?:LOOP|BEGIN)\n)
    | (?:LOOP|REPEAT|ELSE|EXCEPTION|ATOMIC)\n
    """
)
"""Words that steer by themselves, each with a line's end behind it."""
_FEW: Final = 16
_ASSIGNED: Final = 6
"""How far an assignment's sign stands behind its first word."""

_ROUTINES: Final = listed("FUNCTION PROCEDURE PROC TRIGGER EVENT PACKAGE")
_UNASKED: Final = listed("TRIGGER EVENT RULE TASK")
_LATER: Final = _UNASKED | listed("PROCEDURE FUNCTION ROUTINE")
_BEFORE: Final = listed("AS DO BEGIN ROW INSTEAD ALSO IS THEN STATEMENT ATOMIC")
_STARTS: Final = (BEGINNING - {"SET"}) | {"WITH", "BEGIN", "IF"}
_PLAIN: Final = listed("PLPGSQL SQL TSQL MYSQL")
"""Languages that bodies are read in."""


def opens_block(words: list[str]) -> bool:
    """Whether a statement begins a block, so that what follows it may steer."""
    first = first_word(words)
    if first == "BEGIN":
        return len(words) > 1 and words[1] not in _TRANSACTION
    return first in OPENING or (first == "CREATE" and not _ROUTINES.isdisjoint(words[1:8]))


def steps(piece: Piece) -> list[Piece]:
    """The statements of a piece, without the words that steer; the queries that steer are among
    them."""
    return [step for part in _cut(piece) for step in _steps(part)]


def _cut(piece: Piece) -> list[Piece]:
    """A piece, cut where T-SQL ends a statement without a sign: before END TRY and END CATCH, and
    before an ELSE that is no part of a CASE."""
    words = piece.words
    found: list[Piece] = []
    start = cases = 0
    for at, (word, after) in enumerate(pairwise([*words, ""])):
        cases += word == "CASE"
        ends = word == "END" and after in ("TRY", "CATCH")
        if at > start and (ends or (word == "ELSE" and not cases and after in _STARTING)):
            found.append(piece.between(start, at))
            start = at
        elif word == "END" and cases:
            cases -= 1
    return [*found, piece.behind(start)]


def _steps(piece: Piece) -> list[Piece]:
    found: list[Piece] = []
    for _ in range(MOST):
        if not piece.words:
            return found
        at, asked = _steered(piece.words)
        if not at:
            break
        if asked is not None and asked[0] < asked[1]:
            found.append(piece.between(*asked))
        piece = piece.behind(at)
    return [*found, piece]


def is_quiet(words: list[str]) -> bool:
    """Whether a statement of a block changes nothing that others see: it tells, returns or assigns
    something."""
    first = first_word(words)
    if first in QUIET or words[:2] in (["GET", "DIAGNOSTICS"], ["GET", "STACKED"]):
        return True
    return ":=" in words[1:_ASSIGNED] and first not in KNOWN


def is_call(words: list[str]) -> bool:
    """Whether a statement of a block is a procedure's name, perhaps with arguments."""
    if first_word(words) in KNOWN or not is_name(words[0]):
        return False
    behind = next((word for word in words[1:] if word != "." and not is_name(word)), "(")
    return behind == "(" and words[1:2] in ([], ["."], ["("])


def _steered(words: list[str]) -> tuple[int, tuple[int, int] | None]:
    """How many of the first words steer, and between which of them there is a query; 0 where none
    does."""
    alone = _STEERING.match("\n".join([*words[:_FEW], ""]))
    if alone is not None:
        return alone[0].count("\n"), None
    first = first_word(words)
    if first not in _TO_THEN | _TO_LOOP:
        return 0, None
    loops = first in _TO_LOOP
    at = _until(words, listed("LOOP DO") if loops else listed("THEN"))
    if not at:
        begins = _begins(words)
        return begins, _query(words, 1, begins)
    inside = words.index("IN") + 1 if loops and "IN" in words[:at] else 1
    return at + 1, _query(words, inside, at)


def _until(words: list[str], ends: frozenset[str]) -> int:
    """Where the first of these words stands outside of brackets; 0 where none does."""
    depth = 0
    for at, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        if not depth and word in ends:
            return at
    return 0


def _begins(words: list[str]) -> int:
    """Where behind a condition the statement begins that it steers."""
    depth = 0
    for at, (before, word) in enumerate(pairwise(words), 1):
        depth += (before == "(") - (before == ")")
        plain = word.partition(" ")[0]
        if at == 1 or depth or plain not in _STARTING or before in (".", "@", ",", "="):
            continue
        if plain != "UPDATE" or words[at + 1 : at + 2] != ["("]:
            return at
    return 0


def _query(words: list[str], start: int, end: int) -> tuple[int, int] | None:
    """A query between two places, without the brackets around it."""
    if words[start : start + 1] == ["("] and end and words[end - 1] == ")":
        start, end = start + 1, end - 1
    queries = PARSED - {"(", "TABLE", "FROM"}
    return (start, end) if not queries.isdisjoint(words[start : start + 1]) else None


def body_of(words: list[str]) -> int:
    """Where the body of a CREATE begins, as words or as a text; 0 where it has none that can be
    read."""
    made, pairs = _made(words), list(pairwise(words))
    if made in ("TABLE", "VIEW"):
        bodies = [at + 1 for at, (word, _) in enumerate(pairs) if word == "AS"]
        return next((at for at in bodies if _is_query(words, at)), 0)
    for at, (before, word) in enumerate(pairs if made in _LATER else (), 1):
        if at > 2 and (before, word) == ("AS", TEXT):
            return at if all(after in _PLAIN for own, after in pairs if own == "LANGUAGE") else 0
        begins = at > 2 and before in _BEFORE and word.partition(" ")[0] in _STARTS
        if begins and words[at + 1 : at + 2] not in (["FUNCTION"], ["PROCEDURE"]):
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
    return words[at + (words[at] == "(") : at + 2][:1] in (["SELECT"], ["WITH"])

"""Blocks: statements between words that steer, as procedures, triggers and batches have them.

`IF @n > 1 DELETE …`, `BEGIN TRY …`, `FOR r IN SELECT … LOOP …`: what steers is taken off, and what
is left is read as any statement. What only steers changes nothing.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from stanchion.readings.sql import WORDS
from stanchion.readings.sql.dynamic import BEGINNING
from stanchion.readings.sql.lexer import Piece
from stanchion.readings.sql.statement import NAME, TEXT
from stanchion.readings.sql.verbs import KNOWN, PARSED, first_word, made_by
from stanchion.readings.word_lists import listed

MOST: Final = 64
"""How many words that steer are taken off one statement."""

OPENING: Final = listed(
    "IF WHILE FOR LOOP REPEAT ELSE ELSIF ELSEIF ELSEIF EXCEPTION WHEN FOREACH CASE"
)
"""Words that steer and that no statement begins with outside of a block."""
_TO_THEN: Final = listed("IF ELSIF ELSEIF WHEN CASE")
_TO_LOOP: Final = listed("WHILE FOR FOREACH")
_ALONE: Final = listed("LOOP REPEAT ELSE EXCEPTION ATOMIC")
QUIET: Final = WORDS["quiet"]
"""First words of statements that change nothing that others see."""
_ENDS: Final = listed("TRY CATCH IF LOOP CASE WHILE FOR REPEAT")
_TRANSACTION: Final = listed(
    "TRANSACTION TRAN WORK ISOLATION READ DEFERRED IMMEDIATE EXCLUSIVE CONCURRENT NOT DISTRIBUTED"
)
_STARTING: Final = (
    (KNOWN - {"(", "FROM", "TABLE", "END", "VALUES"})
    | (QUIET - {"NULL", "OPEN", "CLOSE"})
    | {"BEGIN", "IF", "PERFORM"}
)
_ASSIGNED: Final = 6
"""How far an assignment's sign stands behind its first word."""


def opens_block(words: list[str]) -> bool:
    """Whether a statement begins a block, so that what follows it may steer."""
    first = words[0].partition(" ")[0]
    if first == "BEGIN":
        return len(words) > 1 and words[1] not in _TRANSACTION
    return (
        first in OPENING
        or first == "DECLARE"
        or (first == "CREATE" and not _ROUTINES.isdisjoint(words[1:8]))
    )


_ROUTINES: Final = listed("FUNCTION PROCEDURE PROC TRIGGER EVENT PACKAGE")


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
    for at, word in enumerate(words):
        cases += word == "CASE"
        after = words[at + 1 : at + 2]
        ends = word == "END" and (after == ["TRY"] or after == ["CATCH"])
        if at > start and (
            ends or (word == "ELSE" and not cases and after and after[0] in _STARTING)
        ):
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
    first = words[0].partition(" ")[0]
    if first in QUIET or words[:2] == ["GET", "DIAGNOSTICS"] or words[:2] == ["GET", "STACKED"]:
        return True
    return ":=" in words[1:_ASSIGNED] and first not in KNOWN


def is_call(words: list[str]) -> bool:
    """Whether a statement of a block is a procedure's name, perhaps with arguments."""
    if words[0].partition(" ")[0] in KNOWN or not _is_name(words[0]):
        return False
    behind = next((word for word in words[1:] if word != "." and not _is_name(word)), "(")
    return behind == "(" and words[1:2] in ([], ["."], ["("])


def _steered(words: list[str]) -> tuple[int, tuple[int, int] | None]:
    """How many of the first words steer, and between which of them there is a query; 0 where none
    does."""
    first = words[0].partition(" ")[0]
    if first == "BEGIN":
        return _begun(words), None
    if first == "END":
        return _ended(words), None
    if words[:2] == ["<", "<"] or words[:1] == ["<<"]:
        return next(
            (at + 1 for at, word in enumerate(words[:8]) if word == ">" and words[at - 1] == ">"), 0
        ), None
    if words[1:2] == [":"] and (words[2:3] == ["LOOP"] or words[2:3] == ["BEGIN"]):
        return 2, None
    if first in _ALONE:
        return 1, None
    if first in _TO_THEN:
        at = _until(words, frozenset({"THEN"}))
        return (
            (at + 1, _query(words, 1, at))
            if at
            else (_begins(words), _query(words, 1, _begins(words)))
        )
    if first in _TO_LOOP:
        at = _until(words, frozenset({"LOOP", "DO"}))
        if not at:
            return _begins(words), _query(words, 1, _begins(words))
        inside = words.index("IN") + 1 if "IN" in words[:at] else 1
        return at + 1, _query(words, inside, at)
    return 0, None


def _begun(words: list[str]) -> int:
    if words[1:2] in (["TRY"], ["CATCH"], ["ATOMIC"]):
        return 2
    if words[1:3] == ["NOT", "ATOMIC"]:
        return 3
    return 1 if len(words) > 1 and words[1] not in _TRANSACTION else 0


def _ended(words: list[str]) -> int:
    if len(words) == 1 or words[1] in ("TRANSACTION", "TRAN", "WORK"):
        return 0
    if words[1] in _ENDS:
        return 2
    return 1 if words[1] in _STARTING else 2 if len(words) > 1 and _is_name(words[1]) else 0


def _is_name(word: str) -> bool:
    return word == NAME or word.isidentifier()


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
    for at, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        plain = word.partition(" ")[0]
        if (
            at
            and not depth
            and plain in _STARTING
            and words[at - 1] not in (".", "@", ",", "=")
            and at > 1
        ):
            if plain == "UPDATE" and words[at + 1 : at + 2] == ["("]:
                continue
            return at
    return 0


def _query(words: list[str], start: int, end: int) -> tuple[int, int] | None:
    """A query between two places, without the brackets around it."""
    if words[start : start + 1] == ["("] and end and words[end - 1] == ")":
        start, end = start + 1, end - 1
    return (
        (start, end)
        if words[start : start + 1] and words[start] in PARSED - {"(", "TABLE", "FROM"}
        else None
    )


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

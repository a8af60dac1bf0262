"""Blocks: statements inside of statements, and texts that a statement makes and runs."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.sql import WORDS
from stanchion.readings.sql.lexer import SqlPiece, is_name
from stanchion.readings.sql.statement import KNOWN, NUMBER, PARSED, TEXT, first_word, made_by
from stanchion.readings.word_lists import listed

UNKNOWN: Final = "x"
"""What stands for a piece that is not known."""
JOINING: Final = listed("|| +")
_STOPPING: Final = JOINING | listed(", ) USING INTO LANGUAGE LIMIT THEN LOOP END AT WITH OUTPUT")
"""What stands behind an operand."""
_FORMATS: Final = listed("FORMAT PRINTF FORMATMESSAGE")
_CONCATS: Final = listed("CONCAT STRING_CONCAT")
_SAME: Final = listed("UPPER LOWER TRIM LTRIM RTRIM CAST CONVERT N")
_PLACE: Final = regex(r"%(?:[0-9]+\$)?-?[0-9]*([ILsdit%])")
_MOST_PARTS: Final = 64


def folded(piece: SqlPiece, at: int, known: dict[str, str]) -> str | None:
    """The text that an expression gives which begins at a place, by the texts that variables are
    `known` to have; none where nothing of its beginning is known."""
    words = piece.words
    parts: list[str | None] = []
    while len(parts) < _MOST_PARTS and (not parts or not JOINING.isdisjoint(words[at : at + 1])):
        at += bool(parts)
        if at >= len(words):
            break
        part, at = _operand(piece, at, known)
        if part is None and not parts:
            return None
        parts.append(part)
    return _joined(parts)


def _joined(parts: list[str | None]) -> str | None:
    """A text of parts; none where nothing of its beginning is known."""
    if not parts or parts[0] is None:
        return None
    return "".join([UNKNOWN if part is None else part for part in parts])


def assigned(piece: SqlPiece, known: dict[str, str]) -> None:
    """Keep the text that a statement gives to a variable, as far as it is known."""
    words = piece.words
    for at, word in enumerate(words[:24]):
        if word not in (":=", "=") or not at:
            continue
        name = _variable(piece, at)
        text = folded(piece, at + 1, known)
        if name and text is not None:
            adds = words[at - 1] == "+"
            known[name] = known.get(name, "") + text if adds else text
        elif name:
            known.pop(name, None)
        return


def _variable(piece: SqlPiece, at: int) -> str:
    """The name of the variable before an assignment's sign: that behind a DECLARE or a SET, or
    alone."""
    words = piece.words
    start = 1 if words[0] in ("DECLARE", "SET", "SELECT") else 0
    behind = [token.text for token in piece.tokens[start:at]]
    name = "".join(behind[:2]) if behind[:1] == ["@"] else behind[0] if behind else ""
    return name.lower().lstrip("@")


def _operand(piece: SqlPiece, at: int, known: dict[str, str]) -> tuple[str | None, int]:
    """One operand of a text that is put together, and the place behind it."""
    words = piece.words
    at += words[at : at + 2] == ["N", TEXT]
    word = words[at]
    if word in (TEXT, NUMBER):
        return str(piece.tokens[at].text), at + 1
    opened = at + (word != "(")
    if words[opened : opened + 1] == ["("]:
        end = closing(words, opened)
        inner = piece.between(opened + 1, end)
        text = folded(inner, 0, known) if word == "(" else _called(word, inner, known)
        return text, end + 1 if end else len(words)
    at += word == "@"
    name = piece.tokens[at].text.lower().lstrip("@") if at < len(words) else ""
    ends = (place for place in range(at + 1, len(words)) if words[place] in _STOPPING)
    return known.get(name), next(ends, len(words))


def _called(name: str, inner: SqlPiece, known: dict[str, str]) -> str | None:
    """What a function gives that puts texts together."""
    if not inner.words:
        return None
    if name in _SAME:
        return folded(inner, 0, known)
    if name in _CONCATS:
        return _joined([folded(part, 0, known) for part in _arguments(inner)])
    if name in _FORMATS and inner.words[0] == TEXT:
        text = str(inner.tokens[0].text)
        given = [folded(part, 0, known) for part in _arguments(inner)[1:]]
        return _PLACE.sub(lambda found: _placed(found[1], given), text)
    return None


def _placed(kind: str, given: list[str | None]) -> str:
    if kind == "%":
        return "%"
    value = given.pop(0) if given else None
    return f"'{UNKNOWN}'" if kind == "L" else UNKNOWN if value is None else value


def _arguments(inner: SqlPiece) -> list[SqlPiece]:
    """The arguments of a call."""
    depth, start = 0, 0
    found: list[SqlPiece] = []
    for at, word in enumerate(inner.words):
        depth += (word == "(") - (word == ")")
        if word == "," and not depth:
            found.append(inner.between(start, at))
            start = at + 1
    return [part for part in (*found, inner.behind(start)) if part.words]


def closing(words: list[str], at: int) -> int:
    """Where the bracket closes that opens here; 0 where it does not."""
    depth = 0
    for place in range(at, len(words)):
        depth += (words[place] == "(") - (words[place] == ")")
        if not depth:
            return place
    return 0


BEGINNING: Final = WORDS["beginnings of statements"]
"""Words that begin a statement wherever they stand in a batch."""

_NAMING: Final = listed("USE SHOW HELP")
"""First words behind which a word is a name, or says what is shown."""
_ALONE: Final = listed("TABLE INDEX SEQUENCE DATABASE TYPE SYNONYM STATISTICS PARTITION")
"""What is made and changed by statements that others may follow; the rest holds statements or
stands alone."""
_PARTS: Final = {
    "CREATE": listed("SELECT SET REPLACE COPY"),
    "ALTER": listed(
        "ALTER MERGE UPDATE DELETE DROP TRUNCATE SET RENAME REPLACE SELECT COPY ATTACH DETACH"
    ),
    "LOCK": frozenset({"UPDATE"}),
    **dict.fromkeys(("SET", "RESET"), frozenset({"SET"})),
}
"""Words that are parts of a statement with that first word, or that it is judged by itself."""
_BEFORE_CALL: Final = listed(". @ @@ = , CHARACTER CHAR")
_BEFORE_IN_DDL: Final = _BEFORE_CALL | {"FOR", "KEY", "AS", "ON", "COMMIT", "OR"}
"""Words before one that is a name, or part of a clause."""
_AFTER: Final = listed("= ,")
"""Words behind one that is a name."""


def hidden_verb(words: list[str]) -> int:
    """Where in a statement another one begins; 0 where none does."""
    first = first_word(words)
    ddl = first in ("CREATE", "ALTER", "COMMENT", "RENAME")
    if ddl and made_by(words) not in _ALONE:
        return 0
    before = _BEFORE_IN_DDL if ddl else _BEFORE_CALL
    beginning = BEGINNING - _PARTS.get(first, frozenset())
    depth = 0
    for at, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        if depth > 0 or not at or word.partition(" ")[0] not in beginning:
            continue
        named = (at == 1 and first in _NAMING) or words[at - 1] in before
        if named or not _AFTER.isdisjoint(words[at + 1 : at + 2]):
            continue
        return at
    return 0


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


def steps(piece: SqlPiece) -> list[SqlPiece]:
    """The statements of a piece, without the words that steer; the queries that steer are among
    them."""
    return [step for part in _cut(piece) for step in _steps(part)]


def _cut(piece: SqlPiece) -> list[SqlPiece]:
    """A piece, cut where T-SQL ends a statement without a sign: before END TRY and END CATCH, and
    before an ELSE that is no part of a CASE."""
    words = piece.words
    found: list[SqlPiece] = []
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


def _steps(piece: SqlPiece) -> list[SqlPiece]:
    found: list[SqlPiece] = []
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

"""Dynamic SQL: a text that is put together when it runs, as far as its pieces are written out.

`'DROP TABLE ' || quote_ident(t)` is `DROP TABLE x`, whatever `t` is. What is not known stands as a
name.
"""

from __future__ import annotations

from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.sql import WORDS
from stanchion.readings.sql.lexer import Piece
from stanchion.readings.sql.statement import NUMBER, TEXT
from stanchion.readings.sql.verbs import first_word, made_by
from stanchion.readings.word_lists import listed

UNKNOWN: Final = "x"
"""What stands for a piece that is not known."""
JOINING: Final = frozenset({"||", "+"})
_STOPPING: Final = JOINING | listed(", ) USING INTO LANGUAGE LIMIT THEN LOOP END AT WITH OUTPUT")
"""What stands behind an operand."""
_FORMATS: Final = frozenset({"FORMAT", "PRINTF", "FORMATMESSAGE"})
_CONCATS: Final = frozenset({"CONCAT", "STRING_CONCAT"})
_SAME: Final = listed("UPPER LOWER TRIM LTRIM RTRIM CAST CONVERT N")
_PLACE: Final = regex(r"%(?:[0-9]+\$)?-?[0-9]*([ILsdit%])")
_FEW: Final = 64


def folded(piece: Piece, at: int, known: dict[str, str]) -> str | None:
    """The text that an expression gives which begins at a place, by the texts that variables are
    `known` to have; none where nothing of its beginning is known."""
    words = piece.words
    parts: list[str | None] = []
    while len(parts) < _FEW and (not parts or not JOINING.isdisjoint(words[at : at + 1])):
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


def assigned(piece: Piece, known: dict[str, str]) -> None:
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


def _variable(piece: Piece, at: int) -> str:
    """The name of the variable before an assignment's sign: that behind a DECLARE or a SET, or
    alone."""
    words = piece.words
    start = 1 if words[0] in ("DECLARE", "SET", "SELECT") else 0
    behind = [token.text for token in piece.tokens[start:at]]
    name = "".join(behind[:2]) if behind[:1] == ["@"] else behind[0] if behind else ""
    return name.lower().lstrip("@")


def _operand(piece: Piece, at: int, known: dict[str, str]) -> tuple[str | None, int]:
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


def _called(name: str, inner: Piece, known: dict[str, str]) -> str | None:
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


def _arguments(inner: Piece) -> list[Piece]:
    """The arguments of a call."""
    depth, start = 0, 0
    found: list[Piece] = []
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

_NAMING: Final = frozenset({"USE", "SHOW", "HELP"})
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
_BEFORE: Final = listed(". @ @@ = , CHARACTER CHAR")
_BEFORE_IN_DDL: Final = _BEFORE | {"FOR", "KEY", "AS", "ON", "COMMIT", "OR"}
"""Words before one that is a name, or part of a clause."""
_AFTER: Final = frozenset({"=", ","})
"""Words behind one that is a name."""


def hidden_verb(words: list[str]) -> int:
    """Where in a statement another one begins; 0 where none does."""
    first = first_word(words)
    ddl = first in ("CREATE", "ALTER", "COMMENT", "RENAME")
    if ddl and made_by(words) not in _ALONE:
        return 0
    before = _BEFORE_IN_DDL if ddl else _BEFORE
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

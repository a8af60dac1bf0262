"""Reading: one dialect's view of a text, statement by statement."""

from __future__ import annotations

from typing import Final

import msgspec

from stanchion.readings.sql.calls import calls_in, changing_words, numbers_in, reads_file, spelled
from stanchion.readings.sql.comments import Unread
from stanchion.readings.sql.functions import REACHES, effect_of
from stanchion.readings.sql.hidden import hidden_verb
from stanchion.readings.sql.lexing import NAME, TEXT, Piece, Reader, pieces_of, reader_of
from stanchion.readings.sql.pure import is_pure
from stanchion.readings.sql.query import parsed, shown
from stanchion.readings.sql.statement import Does, Effect, Statement, severity
from stanchion.readings.sql.tables import named_tables, tables_after
from stanchion.readings.sql.verbs import PARSED, first_word, said_by

MAX_INNER: Final = 2
MAX_WITHIN: Final = 4
"""How many texts are read inside texts, and statements inside statements."""


class Reading(msgspec.Struct, frozen=True):
    """What a text does in one dialect. `words` are those that change something, statement by statement: two readings
    with the same ones differ in nothing that matters."""

    statements: tuple[Statement, ...]
    words: tuple[tuple[str, ...], ...]

    @property
    def clear(self) -> bool:
        """Whether every statement was understood."""
        return not any(statement.why for statement in self.statements)


class _View(msgspec.Struct, frozen=True):
    """What reading a statement needs to know."""

    text: str
    reader: Reader
    dialect: str
    inner: int
    within: int = 0


def read(text: str, dialect: str, inner: int = 0) -> Reading:
    """Read a text; refuses one that cannot be cut into statements."""
    reader = reader_of(dialect)
    pieces, text = pieces_of(text, reader, dialect)
    view = _View(text, reader, dialect, inner)
    statements = []
    for at, piece in enumerate(pieces, 1):
        one = _statement(piece, view)
        calls = tuple(dict.fromkeys([*one.calls, *calls_in(piece), *numbers_in(piece)]))
        effects = [Effect(name, what) for name in calls if (what := effect_of(name, dialect))]
        if dialect == "duckdb" and reads_file(piece.words):
            effects.append(Effect("FROM 'file'", REACHES))
        statements.append(msgspec.structs.replace(one, at=at, calls=calls, effects=tuple(effects)))
    words = tuple([(first_word(piece.words), *changing_words(piece.words)) for piece in pieces])
    return Reading(tuple(statements), words)


def _inside(piece: Piece, view: _View) -> Statement:
    """A statement that another one runs."""
    if view.within >= MAX_WITHIN or not piece.words:
        return Statement(Does.UNKNOWN, "?", why="it has too many statements inside each other, or an empty one")
    return _statement(piece, msgspec.structs.replace(view, within=view.within + 1))


def _statement(piece: Piece, view: _View) -> Statement:
    """One statement; what stands before another one and has it run is taken off."""
    words = piece.words
    first = first_word(words)
    if first in ("EXPLAIN", "DESCRIBE", "DESC", "ANALYZE", "ANALYSE"):
        return _explained(piece, view)
    if first == "BEGIN" and said_by(words) is None:
        return _inside(piece.behind(1), view)
    if first in _RUNNING:
        one = _RUNNING[first](piece, view)
        return one if first == "PREPARE" or _is_cursor(words) else _with_hidden(one, piece, view)
    if " ".join(words[:2]).startswith("UPDATE STATISTICS"):
        return Statement(Does.UPKEEP, "UPDATE STATISTICS")
    if first in PARSED:
        return parsed(piece, view.reader, view.text)
    if first == "COPY" and words[1:2] == ["("]:
        return _copied(piece, view)
    said = said_by(spelled(piece) if first in ("SET", "RESET", "USE") else words)
    if said is None:
        return Statement(Does.UNKNOWN, shown(first), why="it begins with nothing that is known")
    does, verb = said
    read, named = tables_after(piece, "FROM", "JOIN"), named_tables(piece)
    unknown = tuple([name for name in calls_in(piece) if not is_pure(name)]) if does is Does.SESSION else ()
    if does is Does.READ:
        return _with_hidden(Statement(does, verb, reads=(*named, *read)), piece, view)
    return _with_hidden(Statement(does, verb, reads=read, writes=named, unknown=unknown), piece, view)


def _with_hidden(one: Statement, piece: Piece, view: _View) -> Statement:
    """A statement of which only the first words were read, and the one that begins further on: some databases want
    nothing between them. The worse of both counts, and every doubt. What no level allows needs nothing worse."""
    at = hidden_verb(piece.words) if one.does < Does.ADMIN and not one.why else 0
    if not at:
        return one
    inner = _inside(piece.behind(at), view)
    worse = inner if inner.why or severity((inner,)) > severity((one,)) else one
    reads, writes, unknown, calls = [
        tuple(dict.fromkeys([*getattr(one, name), *getattr(inner, name)]))
        for name in ("reads", "writes", "unknown", "calls")
    ]
    bounded = one.bounded and inner.bounded
    return msgspec.structs.replace(
        worse, reads=reads, writes=writes, unknown=unknown, calls=calls, bounded=bounded, why=inner.why
    )


def _explained(piece: Piece, view: _View) -> Statement:
    """EXPLAIN tells how a statement would run, and runs it where it analyzes."""
    words = piece.words
    runs = first_word(words) in ("ANALYZE", "ANALYSE")
    for at, word in enumerate(words[1:12], 1):
        if word in ("ANALYZE", "ANALYSE"):
            runs = True
        elif word in PARSED - {"(", "TABLE", "FROM"} or (word == "CREATE" and runs):
            inner = _inside(piece.behind(at), view)
            if runs:
                return inner
            return msgspec.structs.replace(inner, does=Does.READ, verb="EXPLAIN", bounded=True, writes=())
    said = said_by(words)
    does, verb = said if said is not None else (Does.READ, "EXPLAIN")
    return Statement(does, verb, reads=named_tables(piece))


def _copied(piece: Piece, view: _View) -> Statement:
    """COPY of a query: what the query does, and where its rows go."""
    said = said_by(piece.words)
    end = _closing(piece.words, 1)
    inner = _inside(piece.between(2, end), view)
    outer = Statement(*(said if said is not None else (Does.UNKNOWN, "COPY")))
    if outer.does > inner.does:
        return msgspec.structs.replace(inner, does=outer.does, verb=outer.verb)
    return inner


def _closing(words: list[str], at: int) -> int:
    """Where the bracket closes that opens here; 0 where it does not."""
    depth = 0
    for place in range(at, len(words)):
        depth += (words[place] == "(") - (words[place] == ")")
        if not depth:
            return place
    return 0


def _prepared(piece: Piece, view: _View) -> Statement:
    """PREPARE: what it prepares is going to run."""
    words = piece.words
    if words[1:2] == ["TRANSACTION"]:
        return Statement(Does.UPKEEP, "PREPARE TRANSACTION")
    for at, word in enumerate(words[2:40], 2):
        if word == "AS":
            return _inside(piece.behind(at + 1), view)
        if word == "FROM":
            return _text(piece, at + 1, view, "PREPARE")
    return _dynamic("PREPARE")


def _executed(piece: Piece, view: _View) -> Statement:
    """EXECUTE and EXEC: a text, a procedure, or something prepared before."""
    words = piece.words
    after = words[1:3]
    if after[:1] == ["IMMEDIATE"]:
        return _text(piece, 2, view, "EXECUTE IMMEDIATE")
    if after[:1] == ["AS"]:
        return Statement(Does.PRIVILEGE, "EXECUTE AS")
    if after[:1] == ["("]:
        return _text(piece, 2, view, "EXECUTE")
    if after[:1] == [TEXT]:
        return _text(piece, 1, view, "EXECUTE")
    for at, word in enumerate(words[1:8], 1):
        if word == "SP_EXECUTESQL":
            return _text(piece, at + 1, view, "sp_executesql")
    return _called(piece, view)


def _called(piece: Piece, view: _View) -> Statement:
    """A procedure by its name: what it does is written elsewhere, unless it is one of the server's own."""
    names: list[str] = []
    for at, word in enumerate(piece.words[1:8], 1):
        if word == "(":
            break
        if word.isidentifier() or word == NAME:
            names.append(piece.tokens[at].text.lower())
    own = tuple([name for name in names if effect_of(name, view.dialect)] or names[-1:])
    return Statement(Does.CALL, first_word(piece.words), calls=own)


def _done(piece: Piece, view: _View) -> Statement:
    """DO: a block of PostgreSQL's, or an expression of MySQL's."""
    if TEXT in piece.words[1:4] and piece.words[1] in (TEXT, "LANGUAGE"):
        return _text(piece, piece.words.index(TEXT), view, "DO")
    return Statement(Does.CALL, "DO")


def _declared(piece: Piece, view: _View) -> Statement:
    """DECLARE: a cursor's query runs; a variable is the session's own."""
    words = piece.words
    if _is_cursor(words):
        return _inside(piece.behind(words.index("FOR") + 1), view)
    if words[1:2] == ["@"] or words[1:2] == ["PARAMETER"]:
        return Statement(Does.SESSION, "DECLARE")
    return Statement(Does.UNKNOWN, "DECLARE", why="it is a block of a procedure")


def _is_cursor(words: list[str]) -> bool:
    return words[0] == "DECLARE" and "CURSOR" in words[:8] and "FOR" in words[:16]


def _waited(_piece: Piece, _view: _View) -> Statement:
    return Statement(Does.CALL, "WAITFOR", calls=("waitfor",))


def _text(piece: Piece, at: int, view: _View, verb: str) -> Statement:
    """A text that is run: the worst it does, where it is written out."""
    rest = [word for word in piece.words[at + 1 : at + 2] if word not in (")", ",", "USING", "LANGUAGE", "INTO")]
    if piece.words[at : at + 1] != [TEXT] or rest or view.inner >= MAX_INNER:
        return _dynamic(verb)
    try:
        inner = read(piece.tokens[at].text, view.dialect, view.inner + 1)
    except Unread as error:
        return Statement(Does.UNKNOWN, verb, why=f"of the text it runs: {error}")
    if not inner.statements:
        return _dynamic(verb)
    worst = max(inner.statements, key=lambda one: (bool(one.why), severity((one,))))
    unknown = tuple(dict.fromkeys([name for one in inner.statements for name in one.unknown]))
    return msgspec.structs.replace(worst, verb=f"{verb} of {worst.verb}", unknown=unknown)


def _dynamic(verb: str) -> Statement:
    return Statement(Does.UNKNOWN, verb, why="it runs a text that is only known when it runs")


_RUNNING: Final = {
    "PREPARE": _prepared,
    "EXECUTE": _executed,
    "EXEC": _executed,
    "CALL": _called,
    "DO": _done,
    "DECLARE": _declared,
    "WAITFOR": _waited,
}

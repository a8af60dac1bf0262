"""Reading: one dialect's view of a text, statement by statement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from stanchion.kernel.sizes import ReadLimits
from stanchion.readings.sql import WORDS
from stanchion.readings.sql.blocks import (
    BEGINNING,
    JOINING,
    assigned,
    body_of,
    closing,
    folded,
    hidden_verb,
    is_call,
    is_quiet,
    opens_block,
    runs_itself,
    steps,
)
from stanchion.readings.sql.lexer import (
    SqlPiece,
    SqlReader,
    UnreadSql,
    is_name,
    pieces_of,
    reader_of,
)
from stanchion.readings.sql.named import (
    REACHES,
    calls_in,
    copies_data,
    effect_of,
    forgets,
    is_narrow,
    is_pure,
    made_in,
    named_tables,
    reads_file,
    spared,
    tables_after,
    unprotects,
)
from stanchion.readings.sql.statement import (
    KNOWN,
    PARSED,
    TEXT,
    Does,
    Effect,
    Statement,
    changing_words,
    first_word,
    said_by,
    severity,
)
from stanchion.readings.sql.tree import mutating, parsed, shown
from stanchion.readings.word_lists import listed

_CLIENTS: Final = {
    ".": listed(
        "TABLES SCHEMA INDEXES INDICES HEADERS HEADER MODE WIDTH DATABASES DBINFO TIMER HELP SHOW "
        "STATS EQP"
    ),
    "\\": listed("D DT DN DU DF DI DV DX DP DS DM L Z SF SV TIMING X CONNINFO ENCODING"),
}
"""Commands of clients that only show something."""

_TELLING: Final = WORDS["procedures that tell"]
"""Procedures of T-SQL's servers that only tell something."""

MAX_INNER: Final = 2
MAX_WITHIN: Final = 4
"""How many texts are read inside texts, and statements inside statements."""


class SqlReading(Struct, frozen=True):
    """What a text does in one dialect. `words` are those that change something, statement by
    statement: two readings with the same ones differ in nothing that matters."""

    statements: tuple[Statement, ...]
    words: tuple[tuple[str, ...], ...]

    @property
    def clear(self) -> bool:
        """Whether every statement was understood."""
        return not any(statement.why for statement in self.statements)


class _View(Struct, frozen=True):
    """What reading a statement needs to know: the text that it is in, the texts that variables
    have, the session's own tables, and inside of how many texts and statements it stands."""

    text: str
    reader: SqlReader
    dialect: str
    inner: int
    known: dict[str, str]
    scratch: set[str]
    within: int = 0


def read(
    text: str,
    dialect: str,
    limits: ReadLimits,
    inner: int = 0,
    block: bool = False,
    known: dict[str, str] | None = None,
) -> SqlReading:
    """Read a text; refuses one that cannot be cut into statements. In a `block` words may steer
    from the beginning; `known` are the texts that variables have."""
    reader = reader_of(dialect, limits)
    pieces, text = pieces_of(text, reader, dialect)
    view = _View(text, reader, dialect, inner, {} if known is None else known, set())
    statements = []
    for at, piece in enumerate(pieces, 1):
        block = block or opens_block(piece.words)
        one = _in_block(piece, view) if block else _spared(piece, view)
        view.scratch.update(made_in(piece))
        assigned(piece, view.known)
        statements.append(_with_calls(one, piece, at, dialect))
    words = tuple([(first_word(piece.words), *changing_words(piece.words)) for piece in pieces])
    return SqlReading(tuple(statements), words)


def _with_calls(one: Statement, piece: SqlPiece, at: int, dialect: str) -> Statement:
    """A statement with its place, and with what the functions do that its words call."""
    calls = tuple(dict.fromkeys([*one.calls, *calls_in(piece)]))
    effects = [
        *one.effects,
        *[Effect(name, what) for name in calls if (what := effect_of(name, dialect))],
    ]
    if effects:
        effects = [effect for effect in effects if not is_narrow(effect.name, piece)]
        effects += [Effect("set_config", REACHES)] if unprotects(piece) else []
    if dialect == "duckdb" and reads_file(piece):
        effects.append(Effect("FROM 'file'", REACHES))
    return replace(one, at=at, calls=calls, effects=tuple(effects))


def _in_block(piece: SqlPiece, view: _View) -> Statement:
    """A statement of a block: the worst of what is left of it without the words that steer."""
    own = [_step(part, view) for part in steps(piece)]
    return _worst(own) if own else Statement(Does.TRANSACTION, shown(first_word(piece.words)))


def _step(piece: SqlPiece, view: _View) -> Statement:
    words = piece.words
    if is_quiet(words) or _declares(words):
        return _with_hidden(Statement(Does.SESSION, shown(first_word(words))), piece, view)
    if words[0] == "PERFORM":
        return Statement(Does.CALL, "PERFORM")
    if is_call(words):
        own = "" if "(" in words else "".join([token.text.lower() for token in piece.tokens[:5]])
        return Statement(Does.CALL, "CALL", calls=(own,) if own else ())
    return _spared(piece, view)


def _declares(words: list[str]) -> bool:
    """Whether a statement of a block says what a variable is: a name and a type, and perhaps a
    value."""
    named = len(words) > 1 and is_name(words[0]) and first_word(words) not in KNOWN
    return named and is_name(words[1]) and BEGINNING.isdisjoint(words[1:])


def _worst(found: list[Statement]) -> Statement:
    """The worst of several statements as one, with the tables and functions of all."""
    worst = max(found, key=lambda one: (bool(one.why), severity((one,))))
    reads, writes, unknown, calls, effects, secrets = [
        tuple(dict.fromkeys([name for one in found for name in getattr(one, part)]))
        for part in ("reads", "writes", "unknown", "calls", "effects", "secrets")
    ]
    return replace(
        worst, reads=reads, writes=writes, unknown=unknown, calls=calls, effects=effects,
        secrets=secrets, bounded=all(one.bounded for one in found),
    )  # fmt: skip


def _spared(piece: SqlPiece, view: _View) -> Statement:
    return spared(_statement(piece, view), piece, view.scratch)


def _inside(piece: SqlPiece, view: _View) -> Statement:
    """A statement that another one runs."""
    if view.within >= MAX_WITHIN or not piece.words:
        why = "it has too many statements inside each other, or an empty one"
        return Statement(Does.UNKNOWN, "?", why=why)
    return _statement(piece, replace(view, within=view.within + 1))


def _statement(piece: SqlPiece, view: _View) -> Statement:
    """One statement; what stands before another one and has it run is taken off."""
    first = first_word(piece.words)
    running = _RUNNING.get(first)
    if running is not None:
        one = running(piece, view)
        alone = first == "PREPARE" or _is_cursor(piece.words)
        return one if alone else _with_hidden(one, piece, view)
    known = _KNOWN.get(first)
    own = None if known is None else known(piece, view)
    return own if own is not None else _said(piece, view)


def _said(piece: SqlPiece, view: _View) -> Statement:
    """A statement by what its first words say."""
    words, first = piece.words, first_word(piece.words)
    if first in ("SET", "RESET", "USE"):
        words = piece.spelled()
    elif first == "PRAGMA":
        words = [token.text.upper() for token in piece.tokens]
    said = said_by(words)
    if said is None:
        return Statement(Does.UNKNOWN, shown(first), why="it begins with nothing that is known")
    does, _ = said
    read, named = tables_after(piece, "FROM", "JOIN"), named_tables(piece)
    if does is Does.READ:
        return _with_hidden(Statement(*said, reads=(*named, *read)), piece, view)
    called = calls_in(piece) if does is Does.SESSION else ()
    unknown = tuple([name for name in called if not is_pure(name)])
    made = Statement(*said, reads=read, writes=named, unknown=unknown)
    return _with_hidden(_with_body(made, piece, view) if first == "CREATE" else made, piece, view)


def _with_hidden(one: Statement, piece: SqlPiece, view: _View) -> Statement:
    """A statement of which only the first words were read, and the one that begins further on: some
    databases want nothing between them. The worse of both counts, and every doubt. What no level
    allows needs nothing worse."""
    at = hidden_verb(piece.words) if one.does < Does.ADMIN and not one.why else 0
    return _worst([one, _inside(piece.behind(at), view)]) if at else one


def _with_body(one: Statement, piece: SqlPiece, view: _View) -> Statement:
    """A CREATE, and what its body does. Of one that runs by itself what cannot be read is a doubt;
    a routine does nothing until it is called."""
    at = body_of(piece.words) if one.does < Does.ADMIN else 0
    if not at:
        return one
    if piece.words[at] == TEXT:
        inner = [_text(piece, at, view, one.verb)]
    else:
        bare = replace(view, scratch=set())
        inner = [_step(part, bare) for part in steps(piece.behind(at))]
    doubts = runs_itself(piece.words)
    return _worst([one, *[each for each in inner if doubts or not each.why]])


def _queried(piece: SqlPiece, view: _View) -> Statement:
    if " ".join(piece.words[:2]).startswith("UPDATE STATISTICS"):
        return Statement(Does.UPKEEP, "UPDATE STATISTICS")
    return parsed(piece, view.reader, view.text)


def _forgetting(piece: SqlPiece, view: _View) -> Statement | None:
    """What may say how long something is kept, and an ALTER that changes rows."""
    first = first_word(piece.words)
    if forgets(piece):
        return Statement(Does.DESTRUCTIVE, f"{first} that lets data go", writes=named_tables(piece))
    changes = mutating(piece, view.text) if first == "ALTER" else ""
    if not changes or view.dialect != "clickhouse":
        return None
    pieces, text = pieces_of(changes, view.reader, view.dialect)
    return parsed(pieces[0], view.reader, text)


def _of_client(piece: SqlPiece, _view: _View) -> Statement | None:
    shows = not _CLIENTS[piece.words[0]].isdisjoint(piece.words[1:2])
    return Statement(Does.READ, "SHOW") if shows else None


def _explained(piece: SqlPiece, view: _View) -> Statement:
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
            return replace(inner, does=Does.READ, verb="EXPLAIN", bounded=True, writes=())
    said = said_by(words)
    return Statement(
        *(said if said is not None else (Does.READ, "EXPLAIN")), reads=named_tables(piece)
    )


def _copied(piece: SqlPiece, view: _View) -> Statement | None:
    """COPY of a query: what the query does, and where its rows go; and to a file with data."""
    data = view.dialect == "duckdb" and copies_data(piece)
    if piece.words[1:2] != ["("]:
        return Statement(Does.UPKEEP, "COPY", reads=named_tables(piece)) if data else None
    said = (Does.UPKEEP, "COPY") if data else said_by(piece.words)
    does, verb = said if said is not None else (Does.UNKNOWN, "COPY")
    inner = _inside(piece.between(2, closing(piece.words, 1)), view)
    return replace(inner, does=does, verb=verb) if does > inner.does else inner


def _prepared(piece: SqlPiece, view: _View) -> Statement:
    """PREPARE: what it prepares is going to run."""
    words = piece.words
    if words[1:2] == ["TRANSACTION"]:
        return Statement(Does.UPKEEP, "PREPARE TRANSACTION")
    if len(words) > 1:
        view.known[_prepared_name(piece)] = ""
    for at, word in enumerate(words[2:40], 2):
        if word == "AS":
            return _inside(piece.behind(at + 1), view)
        if word == "FROM":
            return _text(piece, at + 1, view, "PREPARE")
    return _dynamic("PREPARE")


def _prepared_name(piece: SqlPiece) -> str:
    return f"prepared {piece.tokens[1].text.lower()}"


def _executed(piece: SqlPiece, view: _View) -> Statement:
    """EXECUTE and EXEC: a text, a procedure, or something prepared before."""
    words = piece.words
    after = "".join(words[1:2])
    if after in ("IMMEDIATE", "("):
        return _text(piece, 2, view, "EXECUTE IMMEDIATE" if after == "IMMEDIATE" else "EXECUTE")
    if after == "AS":
        return Statement(Does.PRIVILEGE, "EXECUTE AS")
    if after and _prepared_name(piece) in view.known:
        return Statement(Does.SESSION, "EXECUTE")
    kept = bool(after) and piece.tokens[1].text.lower() in view.known
    made = after == TEXT or words[1:3] in (["FORMAT", "("], ["CONCAT", "("])
    joined = not JOINING.isdisjoint(words[2:])
    if made or joined or (kept and words[2:3] in ([], ["USING"], ["INTO"])):
        return _text(piece, 1, view, "EXECUTE")
    if "SP_EXECUTESQL" in words[1:8]:
        return _text(piece, words.index("SP_EXECUTESQL") + 1, view, "sp_executesql")
    return _called(piece, view)


def _called(piece: SqlPiece, view: _View) -> Statement:
    """A procedure by its name: what it does is written elsewhere, unless it is one of the server's
    own."""
    words = piece.words[: 8 if "(" not in piece.words[1:8] else piece.words.index("(", 1)]
    names = [
        token.text.lower()
        for token, word in zip(piece.tokens[1:], words[1:], strict=False)
        if is_name(word)
    ]
    own = tuple([name for name in names if effect_of(name, view.dialect)] or names[-1:])
    return Statement(Does.READ if _tells(piece) else Does.CALL, first_word(words), calls=own)


def _tells(piece: SqlPiece) -> bool:
    """Whether a procedure is one of the server's own that only tells something: not one of a schema
    that has its name, nor one whose name is in a variable."""
    words = piece.words
    plain = words[0] == "EXEC" and len(words) > 1 and is_name(words[1]) and words[2:3] != ["."]
    return plain and piece.tokens[1].text.lower() in _TELLING


def _done(piece: SqlPiece, view: _View) -> Statement:
    """DO: a block of PostgreSQL's, or an expression of MySQL's."""
    if TEXT in piece.words[1:4] and piece.words[1] in (TEXT, "LANGUAGE"):
        return _text(piece, piece.words.index(TEXT), view, "DO")
    return Statement(Does.CALL, "DO")


def _declared(piece: SqlPiece, view: _View) -> Statement:
    """DECLARE: a cursor's query runs; a variable is the session's own."""
    words = piece.words
    if _is_cursor(words):
        return _inside(piece.behind(words.index("FOR") + 1), view)
    if words[1:2] in (["@"], ["PARAMETER"]) or BEGINNING.isdisjoint(words[1:]):
        return Statement(Does.SESSION, "DECLARE")
    return Statement(Does.UNKNOWN, "DECLARE", why="it is a block of a procedure")


def _is_cursor(words: list[str]) -> bool:
    return words[0] == "DECLARE" and "CURSOR" in words[:8] and "FOR" in words[:16]


def _waited(_piece: SqlPiece, _view: _View) -> Statement:
    return Statement(Does.CALL, "WAITFOR", calls=("waitfor",))


def _text(piece: SqlPiece, at: int, view: _View, verb: str) -> Statement:
    """A text that is run: the worst it does, where it is written out."""
    text = folded(piece, at, view.known) if view.inner < MAX_INNER else None
    if text is None:
        return _dynamic(verb)
    block = verb == "DO" or verb.startswith("CREATE")
    try:
        inner = read(
            text, view.dialect, view.reader.limits, view.inner + 1, block, view.known
        ).statements
    except UnreadSql as error:
        return Statement(Does.UNKNOWN, verb, why=f"of the text it runs: {error}")
    if not inner:
        return _dynamic(verb)
    worst = _worst(list(inner))
    return replace(worst, verb=f"{verb} of {worst.verb}")


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
"""What reads statements that run something else, by their first words."""

_KNOWN: Final[dict[str, Callable[[SqlPiece, _View], Statement | None]]] = {
    **dict.fromkeys(("EXPLAIN", "DESCRIBE", "DESC", "ANALYZE", "ANALYSE"), _explained),
    **dict.fromkeys(PARSED, _queried),
    **dict.fromkeys(("ALTER", "VACUUM", "CREATE"), _forgetting),
    **dict.fromkeys(_CLIENTS, _of_client),
    "COPY": _copied,
}
"""What reads statements that their first words say little of; nothing where those are enough."""

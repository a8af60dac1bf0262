"""Reading: one dialect's view of a text, statement by statement."""

from __future__ import annotations

from typing import Final

import msgspec

from stanchion.kernel.sizes import Limits
from stanchion.readings.sql.blocks import (
    body_of,
    is_call,
    is_quiet,
    opens_block,
    runs_itself,
    steps,
)
from stanchion.readings.sql.calls import (
    calls_in,
    changing_words,
    copies_data,
    is_narrow,
    numbers_in,
    reads_file,
    spelled,
    unprotects,
)
from stanchion.readings.sql.dynamic import (
    BEGINNING,
    JOINING,
    assigned,
    closing,
    folded,
    hidden_verb,
)
from stanchion.readings.sql.lexer import Piece, Reader, Unread, pieces_of, reader_of
from stanchion.readings.sql.pure import REACHES, effect_of, is_pure
from stanchion.readings.sql.scratch import forgets, made_in, spared
from stanchion.readings.sql.statement import NAME, TEXT, Does, Effect, Statement, severity
from stanchion.readings.sql.tables import named_tables, tables_after
from stanchion.readings.sql.tree import mutating, parsed, shown
from stanchion.readings.sql.verbs import KNOWN, PARSED, first_word, said_by
from stanchion.readings.word_lists import listed

_FORGETTING: Final = listed("ALTER VACUUM CALL CREATE")
"""First words of statements that may say how long something is kept."""

_CLIENTS: Final = {
    ".": listed(
        "TABLES SCHEMA INDEXES INDICES HEADERS HEADER MODE WIDTH DATABASES DBINFO TIMER HELP SHOW "
        "STATS EQP"
    ),
    "\\": listed("D DT DN DU DF DI DV DX DP DS DM L Z SF SV TIMING X CONNINFO ENCODING"),
}
"""Commands of clients that only show something."""

MAX_INNER: Final = 2
MAX_WITHIN: Final = 4
"""How many texts are read inside texts, and statements inside statements."""


class Reading(msgspec.Struct, frozen=True):
    """What a text does in one dialect. `words` are those that change something, statement by
    statement: two readings with the same ones differ in nothing that matters."""

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
    known: dict[str, str]
    within: int = 0


def read(
    text: str,
    dialect: str,
    limits: Limits,
    inner: int = 0,
    block: bool = False,
    known: dict[str, str] | None = None,
) -> Reading:
    """Read a text; refuses one that cannot be cut into statements. In a `block` words may steer
    from the beginning; `known` are the texts that variables have."""
    reader = reader_of(dialect, limits)
    pieces, text = pieces_of(text, reader, dialect)
    view = _View(text, reader, dialect, inner, {} if known is None else known)
    scratch: set[str] = set()
    statements = []
    for at, piece in enumerate(pieces, 1):
        block = block or opens_block(piece.words)
        one = (
            _in_block(piece, view, scratch)
            if block
            else spared(_statement(piece, view), piece, scratch)
        )
        scratch.update(made_in(piece))
        assigned(piece, view.known)
        calls = tuple(dict.fromkeys([*one.calls, *calls_in(piece), *numbers_in(piece)]))
        effects = [
            *one.effects,
            *[Effect(name, what) for name in calls if (what := effect_of(name, dialect))],
        ]
        if effects:
            effects = [effect for effect in effects if not is_narrow(effect.name, piece)]
            effects += [Effect("set_config", REACHES)] if unprotects(piece) else []
        if dialect == "duckdb" and reads_file(piece):
            effects.append(Effect("FROM 'file'", REACHES))
        statements.append(msgspec.structs.replace(one, at=at, calls=calls, effects=tuple(effects)))
    words = tuple([(first_word(piece.words), *changing_words(piece.words)) for piece in pieces])
    return Reading(tuple(statements), words)


def _in_block(piece: Piece, view: _View, scratch: set[str]) -> Statement:
    """A statement of a block: the worst of what is left of it without the words that steer."""
    own = [_step(part, view, scratch) for part in steps(piece)]
    if not own:
        return Statement(Does.TRANSACTION, shown(first_word(piece.words)))
    return _worst(own, own[-1])


def _step(piece: Piece, view: _View, scratch: set[str]) -> Statement:
    if is_quiet(piece.words) or _declares(piece.words):
        return _with_hidden(Statement(Does.SESSION, shown(first_word(piece.words))), piece, view)
    if piece.words[0] == "PERFORM" or is_call(piece.words):
        return Statement(
            Does.CALL, "PERFORM" if piece.words[0] == "PERFORM" else "CALL", calls=_own_name(piece)
        )
    return spared(_statement(piece, view), piece, scratch)


def _own_name(piece: Piece) -> tuple[str, ...]:
    """The name of a procedure that is called by nothing but its name."""
    alone = "(" not in piece.words and piece.words[0] != "PERFORM"
    return ("".join([token.text.lower() for token in piece.tokens[:5]]),) if alone else ()


def _declares(words: list[str]) -> bool:
    """Whether a statement of a block says what a variable is: a name and a type, and perhaps a
    value."""
    named = words[0] == NAME or (words[0].isidentifier() and first_word(words) not in KNOWN)
    plain = named and len(words) > 1 and (words[1].isidentifier() or words[1] == NAME)
    return plain and BEGINNING.isdisjoint(words[1:])


def _worst(found: list[Statement], last: Statement) -> Statement:
    """The worst of several statements as one, with the tables and functions of all."""
    worst = max(found, key=lambda one: (bool(one.why), severity((one,))), default=last)
    reads, writes, unknown, calls, effects, secrets = [
        tuple(dict.fromkeys([name for one in found for name in getattr(one, part)]))
        for part in ("reads", "writes", "unknown", "calls", "effects", "secrets")
    ]
    return msgspec.structs.replace(
        worst, reads=reads, writes=writes, unknown=unknown, calls=calls, effects=effects,
        secrets=secrets, bounded=all(one.bounded for one in found),
    )  # fmt: skip


def _inside(piece: Piece, view: _View) -> Statement:
    """A statement that another one runs."""
    if view.within >= MAX_WITHIN or not piece.words:
        return Statement(
            Does.UNKNOWN, "?", why="it has too many statements inside each other, or an empty one"
        )
    return _statement(piece, msgspec.structs.replace(view, within=view.within + 1))


def _statement(piece: Piece, view: _View) -> Statement:
    """One statement; what stands before another one and has it run is taken off."""
    words = piece.words
    first = first_word(words)
    if first in ("EXPLAIN", "DESCRIBE", "DESC", "ANALYZE", "ANALYSE"):
        return _explained(piece, view)
    if first in _RUNNING:
        one = _RUNNING[first](piece, view)
        return one if first == "PREPARE" or _is_cursor(words) else _with_hidden(one, piece, view)
    if " ".join(words[:2]).startswith("UPDATE STATISTICS"):
        return Statement(Does.UPKEEP, "UPDATE STATISTICS")
    if first in PARSED:
        return parsed(piece, view.reader, view.text)
    if first == "COPY" and words[1:2] == ["("]:
        return _copied(piece, view)
    if first in _FORGETTING and forgets(piece):
        return Statement(Does.DESTRUCTIVE, f"{first} that lets data go", writes=named_tables(piece))
    if (
        first == "ALTER"
        and view.dialect == "clickhouse"
        and (mutation := mutating(piece)) is not None
    ):
        return parsed(mutation, view.reader, view.text)
    if words[0] in _CLIENTS and words[1:2] and words[1] in _CLIENTS[words[0]]:
        return Statement(Does.READ, "SHOW")
    if first == "COPY" and view.dialect == "duckdb" and copies_data(piece):
        return Statement(Does.UPKEEP, "COPY", reads=named_tables(piece))
    said = said_by(spelled(piece) if first in ("SET", "RESET", "USE") else words)
    if said is None:
        return Statement(Does.UNKNOWN, shown(first), why="it begins with nothing that is known")
    does, verb = said
    read, named = tables_after(piece, "FROM", "JOIN"), named_tables(piece)
    unknown = (
        tuple([name for name in calls_in(piece) if not is_pure(name)])
        if does is Does.SESSION
        else ()
    )
    if does is Does.READ:
        return _with_hidden(Statement(does, verb, reads=(*named, *read)), piece, view)
    made = Statement(does, verb, reads=read, writes=named, unknown=unknown)
    if first == "CREATE":
        made = _with_body(made, piece, view)
    return _with_hidden(made, piece, view)


def _with_hidden(one: Statement, piece: Piece, view: _View) -> Statement:
    """A statement of which only the first words were read, and the one that begins further on: some
    databases want nothing between them. The worse of both counts, and every doubt. What no level
    allows needs nothing worse."""
    at = hidden_verb(piece.words) if one.does < Does.ADMIN and not one.why else 0
    return _worst([one, _inside(piece.behind(at), view)], one) if at else one


def _with_body(one: Statement, piece: Piece, view: _View) -> Statement:
    """A CREATE, and what its body does. Of one that runs by itself what cannot be read is a doubt;
    a routine does nothing until it is called."""
    at = body_of(piece.words) if one.does < Does.ADMIN else 0
    if not at:
        return one
    if piece.words[at] == TEXT:
        inner = [_text(piece, at, view, one.verb)]
    else:
        inner = [_step(part, view, set()) for part in steps(piece.behind(at))]
    said = inner if runs_itself(piece.words) else [each for each in inner if not each.why]
    return _worst([one, *said], one)


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
            return msgspec.structs.replace(
                inner, does=Does.READ, verb="EXPLAIN", bounded=True, writes=()
            )
    said = said_by(words)
    does, verb = said if said is not None else (Does.READ, "EXPLAIN")
    return Statement(does, verb, reads=named_tables(piece))


def _copied(piece: Piece, view: _View) -> Statement:
    """COPY of a query: what the query does, and where its rows go."""
    said = (
        (Does.UPKEEP, "COPY")
        if view.dialect == "duckdb" and copies_data(piece)
        else said_by(piece.words)
    )
    end = closing(piece.words, 1)
    inner = _inside(piece.between(2, end), view)
    outer = Statement(*(said if said is not None else (Does.UNKNOWN, "COPY")))
    if outer.does > inner.does:
        return msgspec.structs.replace(inner, does=outer.does, verb=outer.verb)
    return inner


def _prepared(piece: Piece, view: _View) -> Statement:
    """PREPARE: what it prepares is going to run."""
    words = piece.words
    if words[1:2] == ["TRANSACTION"]:
        return Statement(Does.UPKEEP, "PREPARE TRANSACTION")
    if len(words) > 1:
        view.known[f"prepared {piece.tokens[1].text.lower()}"] = ""
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
    if len(words) > 1 and f"prepared {piece.tokens[1].text.lower()}" in view.known:
        return Statement(Does.SESSION, "EXECUTE")
    kept = (
        len(words) > 1
        and piece.tokens[1].text.lower() in view.known
        and words[2:3] in ([], ["USING"], ["INTO"])
    )
    if (
        kept
        or after[:1] == [TEXT]
        or not JOINING.isdisjoint(words[2:])
        or words[1:3] in (["FORMAT", "("], ["CONCAT", "("])
    ):
        return _text(piece, 1, view, "EXECUTE")
    for at, word in enumerate(words[1:8], 1):
        if word == "SP_EXECUTESQL":
            return _text(piece, at + 1, view, "sp_executesql")
    return _called(piece, view)


def _called(piece: Piece, view: _View) -> Statement:
    """A procedure by its name: what it does is written elsewhere, unless it is one of the server's
    own."""
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
    if words[1:2] == ["@"] or words[1:2] == ["PARAMETER"] or BEGINNING.isdisjoint(words[1:]):
        return Statement(Does.SESSION, "DECLARE")
    return Statement(Does.UNKNOWN, "DECLARE", why="it is a block of a procedure")


def _is_cursor(words: list[str]) -> bool:
    return words[0] == "DECLARE" and "CURSOR" in words[:8] and "FOR" in words[:16]


def _waited(_piece: Piece, _view: _View) -> Statement:
    return Statement(Does.CALL, "WAITFOR", calls=("waitfor",))


def _text(piece: Piece, at: int, view: _View, verb: str) -> Statement:
    """A text that is run: the worst it does, where it is written out."""
    text = folded(piece, at, view.known) if view.inner < MAX_INNER else None
    if text is None:
        return _dynamic(verb)
    try:
        inner = read(
            text,
            view.dialect,
            view.reader.limits,
            view.inner + 1,
            verb == "DO" or verb.startswith("CREATE"),
            view.known,
        )
    except Unread as error:
        return Statement(Does.UNKNOWN, verb, why=f"of the text it runs: {error}")
    if not inner.statements:
        return _dynamic(verb)
    worst = _worst(list(inner.statements), inner.statements[0])
    return msgspec.structs.replace(worst, verb=f"{verb} of {worst.verb}")


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

"""Trees: what a parsed statement does, to which tables, and to how many of their rows."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

import msgspec
from sqlglot import Token, TokenType, exp

from stanchion.readings.sql import WORDS
from stanchion.readings.sql.bounds import (
    MANY_ROWS,
    inserts_bounded,
    is_bounded,
    merges_bounded,
    replaces_all,
)
from stanchion.readings.sql.burns import LOOKED_AT, burning
from stanchion.readings.sql.calls import calls_at, changing_words
from stanchion.readings.sql.credentials import given_out
from stanchion.readings.sql.lexer import BREAKING, Piece, Reader, Unread
from stanchion.readings.sql.pure import is_pure
from stanchion.readings.sql.statement import HARMLESS, NUMBER, Does, Effect, Statement
from stanchion.readings.sql.tables import (
    changes_own,
    holds_more,
    holds_secrets,
    is_credential,
    named_tables,
    tables_after,
)
from stanchion.readings.sql.verbs import KNOWN, PARSED, WRITING, said_by
from stanchion.readings.word_lists import listed

NAMED: Final = 80
"""How much of a function's name is kept."""

Scope = tuple[dict[str, int], int, Any] | None
"""Which names stand for queries of a WITH: their places in it, how many of them can be seen, and
the scope around."""

_CHANGING: Final[dict[str, tuple[Does, str]]] = {
    "insert": (Does.WRITE, "INSERT"),
    "update": (Does.WRITE, "UPDATE"),
    "delete": (Does.WRITE, "DELETE"),
    "merge": (Does.WRITE, "MERGE"),
    "create": (Does.DDL, "CREATE"),
    "alter": (Does.DDL, "ALTER"),
    "drop": (Does.DESTRUCTIVE, "DROP"),
    "truncatetable": (Does.DESTRUCTIVE, "TRUNCATE"),
    "command": (Does.UNKNOWN, "?"),
}

_NOTED: Final = frozenset({*_CHANGING, "into", "lock", "table"})
_CALLED: Final = listed("anonymous anonymousaggfunc combinedaggfunc parameterizedagg dot")
"""What the parser makes of calls of functions that it does not know, and of functions in a
schema."""


class Found(msgspec.Struct):
    """What was found in a tree so far."""

    does: Does = Does.READ
    verb: str = "SELECT"
    reads: dict[str, None] = {}
    writes: dict[str, None] = {}
    bounded: bool = True
    unknown: dict[str, None] = {}
    numbers: bool = False
    burns: dict[str, str] = {}
    secrets: dict[str, None] = {}

    def note(self, does: Does, verb: str) -> None:
        """Something of this severity is in the tree."""
        if does > self.does:
            self.does, self.verb = does, verb


def look(tree: exp.Expr) -> Found:
    """Walk a tree once: what it does, and which tables it touches. A WITH gives names to queries; a
    table that has such a name only where it cannot be seen is a table."""
    found = Found()
    waiting: list[tuple[exp.Expr, Scope]] = [(tree, None)]
    while waiting:
        node, scope = waiting.pop()
        if node.key in LOOKED_AT:
            _weigh(node, found)
        if node.key in _NOTED:
            _note(node, scope, found)
        elif node.key in _CALLED:
            _call(node, found)
        elif node.key == "nextvaluefor":
            found.numbers = True
        within = node.args.get("with_")
        if isinstance(within, exp.With):
            _weigh(within, found)
            scope = _enter(within, scope, waiting)
        for child in node.iter_expressions():
            if child is not within:
                waiting.append((child, scope))
    return found


def _weigh(node: exp.Expr, found: Found) -> None:
    """Keep what burns, and what gives out passwords and keys."""
    burns = burning(node)
    if burns is not None:
        found.burns[burns[0]] = burns[1]
    if isinstance(node, exp.Select) and (column := given_out(node)):
        found.secrets[column] = None


def _note(node: exp.Expr, scope: Scope, found: Found) -> None:
    known = _CHANGING.get(node.key)
    if known is not None:
        _change(node, found, *known)
    elif isinstance(node, exp.Into):
        if isinstance(node.this, exp.Table) and not isinstance(node.this.this, exp.Parameter):
            found.note(Does.WRITE, "SELECT INTO")
            found.writes[_name(node.this)] = None
    elif isinstance(node, exp.Lock):
        found.note(Does.UPKEEP, "SELECT FOR UPDATE")
    elif isinstance(node, exp.Table) and not _is_query(node, scope):
        name = _name(node)
        if name and name not in found.writes:
            found.reads[name] = None


def _call(node: exp.Expr, found: Found) -> None:
    """Keep the name of a function of which nobody knows what it does."""
    if isinstance(node, exp.Dot):
        called = node.expression
        if not isinstance(called, exp.Func):
            return
        name = (
            f"{node.this.sql().replace(chr(34), '')}."
            f"{called.name if isinstance(called, exp.Anonymous) else called.key}"
        )
    elif isinstance(node.parent, exp.Dot) and node.parent.expression is node:
        return
    else:
        name = str(node.this)
    if not is_pure(name.lower()):
        found.unknown[name.lower()[:NAMED]] = None


def _enter(within: exp.With, scope: Scope, waiting: list[tuple[exp.Expr, Scope]]) -> Scope:
    """Queue the queries of a WITH, each with the names it sees, and give what is seen behind it."""
    queries = within.expressions
    places: dict[str, int] = {}
    for at, query in enumerate(queries):
        places.setdefault(query.alias.lower(), at)
    for at, query in enumerate(queries):
        waiting.append((query, (places, len(queries) if within.recursive else at, scope)))
    return places, len(queries), scope


def _is_query(table: exp.Table, scope: Scope) -> bool:
    """Whether a table is a name that a WITH gave."""
    if table.args.get("db") is not None:
        return False
    name = table.name.lower()
    while scope is not None:
        places, seen, scope = scope
        if places.get(name, seen) < seen:
            return True
    return False


def _name(table: exp.Table) -> str:
    """A table's name as it is written, in small letters; empty for what a function gives."""
    if not isinstance(table.this, exp.Identifier | exp.Dot):
        return ""
    return ".".join([part.name.lower() for part in table.parts])


def _change(node: exp.Expr, found: Found, does: Does, verb: str) -> None:
    found.note(does, verb)
    target = node.this
    if isinstance(target, exp.Schema):
        target = target.this
    named = node.args.get("tables")
    for table in [target, *(named if isinstance(named, list) else [])]:
        if isinstance(table, exp.Table) and (name := _name(table)):
            found.writes[name] = None
            found.reads.pop(name, None)
    if isinstance(node, exp.Update | exp.Delete):
        found.bounded = found.bounded and (isinstance(node.parent, exp.When) or is_bounded(node))
    elif isinstance(node, exp.Insert):
        found.bounded = found.bounded and inserts_bounded(node)
    elif isinstance(node, exp.Merge):
        found.bounded = found.bounded and merges_bounded(node)


HINTS: Final = WORDS["hints"]
"""What stands in brackets behind a table of T-SQL's, and is no argument of a function."""


def parsed(piece: Piece, reader: Reader, text: str) -> Statement:
    """A query, or a statement that changes rows."""
    words = piece.words
    first = words[0]
    written = first if first in WRITING else ""
    does = Does.WRITE if written else Does.UNKNOWN
    verb = written if written else shown(first)
    if "OUTFILE" in words or "DUMPFILE" in words:
        return Statement(
            Does.ADMIN, f"{verb} INTO OUTFILE", reads=tables_after(piece, "FROM", "JOIN")
        )
    if words[1:2] == ["OVERWRITE"] and "DIRECTORY" in words[2:4]:
        return Statement(
            Does.ADMIN, "INSERT OVERWRITE DIRECTORY", reads=tables_after(piece, "FROM", "JOIN")
        )
    if first == "WITH" and "CREATE" in changing_words(words):
        said = said_by(words[words.index("CREATE") :])
        if said is not None:
            return Statement(
                *said, reads=tables_after(piece, "FROM", "JOIN"), writes=named_tables(piece)
            )
    if _has_statement_inside(words):
        return Statement(does, verb, why="it has a statement where a query belongs")
    try:
        tree = reader.tree(
            _insert_for(piece.tokens) if first in ("REPLACE", "UPSERT") else piece.tokens, text
        )
        found = look(tree)
    except Unread as error:
        tables = named_tables(piece) if written else ()
        return Statement(does, verb, 1, tables_after(piece, "FROM", "JOIN"), tables, why=str(error))
    except (RecursionError, *BREAKING):
        return Statement(does, verb, why="it is too complicated to be read")
    bounded = (found.bounded or _is_topped(piece)) and not (
        first == "REPLACE" and replaces_all(tree)
    )
    verb = written if written else found.verb
    made = Statement(
        max(found.does, does) if written else found.does, verb, 1, tuple(found.reads),
        tuple(found.writes), bounded, calls=("nextval",) if found.numbers else (),
        secrets=_secrets(found, tree),
        effects=tuple([Effect(name, what) for name, what in found.burns.items()]),
        unknown=(*found.unknown, *_called_tables(piece, found.reads)),
    )  # fmt: skip
    if changes_own(made):
        return msgspec.structs.replace(
            made, does=Does.PRIVILEGE, verb=f"{verb} of the server's own table"
        )
    if not _is_whole(tree, bool(written)):
        return msgspec.structs.replace(
            made, does=Does.UNKNOWN, why="it is a value and no statement"
        )
    if made.does in HARMLESS | {Does.UPKEEP} and changing_words(words):
        return msgspec.structs.replace(
            made, why=f"it has the word `{changing_words(words)[0]}` in a place of its own"
        )
    if made.does is Does.UNKNOWN:
        return msgspec.structs.replace(made, why="it cannot be parsed")
    return made


def _is_topped(piece: Piece) -> bool:
    """Whether a T-SQL statement says how many rows it changes at the most, and that is no number
    beyond all."""
    words = piece.words
    number = 3 if words[2:3] == ["("] else 2
    if words[1:2] != ["TOP"] or "PERCENT" in words[:6]:
        return False
    return words[number : number + 1] != [NUMBER] or float(piece.tokens[number].text) < MANY_ROWS


def _secrets(found: Found, tree: Any) -> tuple[str, ...]:
    """Tables that hold passwords and keys, where those are read, and columns that do."""
    held = [
        name
        for name in found.reads
        if holds_secrets(name) and (not holds_more(name) or _reads_keys(tree))
    ]
    return (*held, *found.secrets)


def _reads_keys(tree: Any) -> bool:
    """Whether a statement reads whole rows, or a column with passwords or keys."""
    if any(is_credential(column.name.lower()) for column in tree.find_all(exp.Column)):
        return True
    return any(not isinstance(star.parent, exp.Count) for star in tree.find_all(exp.Star))


def _called_tables(piece: Piece, reads: Collection[str]) -> list[str]:
    """Functions that stand where a table belongs and that the parser takes for one: `FROM
    file('x')`."""
    return [
        name
        for name, at in calls_at(piece)
        if name in reads
        and not is_pure(name)
        and not HINTS.issuperset(piece.words[at + 1 : at + 2])
    ]


def _has_statement_inside(words: list[str]) -> bool:
    """Whether a query that has a name begins like something else: databases do not run that, and
    the parser guesses."""
    return any(
        (before == "AS" or before == "MATERIALIZED")
        and word == "("
        and after in KNOWN
        and (after not in PARSED or (after == "REPLACE" and behind != "("))
        for before, word, after, behind in zip(words, words[1:], words[2:], words[3:], strict=False)
    )


def _is_whole(tree: Any, written: bool) -> bool:
    return written or isinstance(tree, exp.Query | exp.Values | exp.DML | exp.Create | exp.Merge)


def _insert_for(tokens: list[Token]) -> list[Token]:
    """A REPLACE as the INSERT that it is to a parser."""
    first = tokens[0]
    return [
        Token(TokenType.INSERT, "INSERT", first.line, first.col, first.start, first.end),
        *tokens[1:],
    ]


def mutating(piece: Piece) -> Piece | None:
    """An `ALTER TABLE … DELETE WHERE …` or `… UPDATE … WHERE …` of ClickHouse's as the statement
    that it is; none where it is none."""
    words = piece.words
    at = next(
        (at for at, word in enumerate(words[:16]) if word in ("DELETE", "UPDATE") and at > 2), 0
    )
    if words[1:2] != ["TABLE"] or not at or "WHERE" not in words[at:]:
        return None
    table = 2 + words[2:at].index("ON") if "ON" in words[2:at] else at
    end = words.index("SETTINGS") if "SETTINGS" in words else len(words)
    here = piece.tokens[at]
    if words[at] == "DELETE":
        first = [here, Token(TokenType.FROM, "FROM", here.line, here.col, here.start, here.end)]
        rest, spoken = (
            piece.tokens[at + 1 : end],
            ["DELETE", "FROM", *words[2:table], *words[at + 1 : end]],
        )
    else:
        first = [here]
        rest = [
            Token(TokenType.SET, "SET", here.line, here.col, here.start, here.end),
            *piece.tokens[at + 1 : end],
        ]
        spoken = ["UPDATE", *words[2:table], "SET", *words[at + 1 : end]]
    return Piece([*first, *piece.tokens[2:table], *rest], spoken)


def shown(word: str) -> str:
    """A first word for messages: never a value of the text."""
    return word if word.isalpha() and len(word) < 20 else "?"

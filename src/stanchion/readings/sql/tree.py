"""Trees: what a parsed statement does, to which tables, and to how many of their rows."""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace
from sqlglot import Token, TokenType, exp

from stanchion.readings.sql import WORDS
from stanchion.readings.sql.lexer import BREAKING, SqlPiece, SqlReader, UnreadSql
from stanchion.readings.sql.named import calls_at, changes_own, is_pure, named_tables, tables_after
from stanchion.readings.sql.queries import (
    LOOKED_AT,
    MANY_ROWS,
    burning,
    given_out,
    inserts_bounded,
    is_bounded,
    merges_bounded,
    replaces_all,
    secret_tables,
    written_table,
)
from stanchion.readings.sql.statement import (
    HARMLESS,
    KNOWN,
    NUMBER,
    PARSED,
    WRITING,
    Does,
    Effect,
    Statement,
    changing_words,
    said_by,
)
from stanchion.readings.word_lists import listed

NAMED: Final = 80
"""How much of a function's name is kept."""
HINTS: Final = WORDS["hints"]
"""What stands in brackets behind a table of T-SQL's, and is no argument of a function."""

Scope = tuple[dict[str, int], int, Any] | None
"""Which names stand for queries of a WITH: their places in it, how many of them can be seen, and
the scope around."""

_CHANGING: Final[dict[str, tuple[Does, str]]] = {
    **{verb: (Does.WRITE, verb.upper()) for verb in ("insert", "update", "delete", "merge")},
    "create": (Does.DDL, "CREATE"),
    "alter": (Does.DDL, "ALTER"),
    "drop": (Does.DESTRUCTIVE, "DROP"),
    "truncatetable": (Does.DESTRUCTIVE, "TRUNCATE"),
    "command": (Does.UNKNOWN, "?"),
}
_BOUNDED: Final = {
    "insert": inserts_bounded,
    "update": is_bounded,
    "delete": is_bounded,
    "merge": merges_bounded,
}
_CALLED: Final = listed("anonymous anonymousaggfunc combinedaggfunc parameterizedagg dot")
"""What the parser makes of calls of functions that it does not know, and of functions in a
schema."""
_WHOLE: Final = (exp.Query, exp.Values, exp.DML, exp.Create, exp.Merge)


class TreeFindings(Struct):
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

    def write(self, table: Any) -> None:
        """A table is written, and so it is not only read."""
        if isinstance(table, exp.Table) and (name := _name(table)):
            self.writes[name] = None
            self.reads.pop(name, None)


def look(tree: exp.Expr) -> TreeFindings:
    """Walk a tree once: what it does, and which tables it touches. A WITH gives names to queries; a
    table that has such a name only where it cannot be seen is a table."""
    found = TreeFindings()
    waiting: list[tuple[exp.Expr, Scope]] = [(tree, None)]
    while waiting:
        node, scope = waiting.pop()
        key = node.key
        if key in LOOKED_AT:
            _weigh(node, found)
        if key == "table":
            name = _name(node)
            if name and name not in found.writes and not _is_query(node, scope):
                found.reads[name] = None
        elif key in _CHANGING:
            _change(node, found)
        elif key in _CALLED:
            _call(node, found)
        elif key == "into":
            _into(node.this, found)
        elif key == "lock":
            found.note(Does.UPKEEP, "SELECT FOR UPDATE")
        elif key == "nextvaluefor":
            found.numbers = True
        within = node.args.get("with_")
        if isinstance(within, exp.With):
            _weigh(within, found)
            scope = _enter(within, scope, waiting)
        waiting += [(child, scope) for child in node.iter_expressions() if child is not within]
    return found


def _weigh(node: exp.Expr, found: TreeFindings) -> None:
    """Keep what burns, and what gives out passwords and keys."""
    burns = burning(node)
    if burns is not None:
        found.burns[burns[0]] = burns[1]
    if isinstance(node, exp.Select) and (column := given_out(node)):
        found.secrets[column] = None


def _into(target: Any, found: TreeFindings) -> None:
    if isinstance(target, exp.Table) and not isinstance(target.this, exp.Parameter):
        found.note(Does.WRITE, "SELECT INTO")
        found.writes[_name(target)] = None


def _call(node: exp.Expr, found: TreeFindings) -> None:
    """Keep the name of a function of which nobody knows what it does."""
    called = node.args.get("expression") if isinstance(node, exp.Dot) else None
    if called is not None:
        if not isinstance(called, exp.Func):
            return
        last = called.name if isinstance(called, exp.Anonymous) else called.key
        name = f"{node.this.sql().replace(chr(34), '')}.{last}"
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


def _is_query(table: exp.Expr, scope: Scope) -> bool:
    """Whether a table is a name that a WITH gave."""
    if table.args.get("db") is not None:
        return False
    name = table.name.lower()
    while scope is not None:
        places, seen, scope = scope
        if places.get(name, seen) < seen:
            return True
    return False


def _name(table: Any) -> str:
    """A table's name as it is written, in small letters; empty for what a function gives."""
    if not isinstance(table.this, exp.Identifier | exp.Dot):
        return ""
    return ".".join([part.name.lower() for part in table.parts])


def _change(node: exp.Expr, found: TreeFindings) -> None:
    found.note(*_CHANGING[node.key])
    found.write(written_table(node))
    named = node.args.get("tables")
    for table in named if isinstance(named, list) else []:
        found.write(table)
    bounded = _BOUNDED.get(node.key)
    if bounded is not None and (bounded is not is_bounded or not isinstance(node.parent, exp.When)):
        found.bounded = found.bounded and bounded(node)


def parsed(piece: SqlPiece, reader: SqlReader, text: str) -> Statement:
    """A query, or a statement that changes rows."""
    words = piece.words
    first = words[0]
    written = first in WRITING
    does, verb = (Does.WRITE, first) if written else (Does.UNKNOWN, shown(first))
    aside = _aside(piece, verb)
    if aside is not None:
        return aside
    if _has_statement_inside(words):
        return Statement(does, verb, why="it has a statement where a query belongs")
    try:
        again = first in ("REPLACE", "UPSERT")
        tree = reader.tree(_insert_for(piece.tokens) if again else piece.tokens, text)
        found = look(tree)
    except UnreadSql as error:
        tables = named_tables(piece) if written else ()
        return Statement(does, verb, 1, tables_after(piece, "FROM", "JOIN"), tables, why=str(error))
    except (RecursionError, *BREAKING):
        return Statement(does, verb, why="it is too complicated to be read")
    if written:
        found.note(does, verb)
        found.verb = verb
    overwrites = first == "REPLACE" and replaces_all(tree)
    made = Statement(
        found.does, found.verb, 1, tuple(found.reads), tuple(found.writes),
        bounded=(found.bounded or _is_topped(piece)) and not overwrites,
        calls=("nextval",) if found.numbers else (),
        secrets=(*secret_tables(found.reads, tree), *found.secrets),
        effects=tuple([Effect(name, what) for name, what in found.burns.items()]),
        unknown=(*found.unknown, *_called_tables(piece, found)),
    )  # fmt: skip
    return _doubted(made, words, whole=written or isinstance(tree, _WHOLE))


def _aside(piece: SqlPiece, verb: str) -> Statement | None:
    """A query that goes to a file, or into something that is made: its words say so."""
    words = piece.words
    said: tuple[Does, str] | None = None
    writes: tuple[str, ...] = ()
    if "OUTFILE" in words or "DUMPFILE" in words:
        said = Does.ADMIN, f"{verb} INTO OUTFILE"
    elif words[1:2] == ["OVERWRITE"] and "DIRECTORY" in words[2:4]:
        said = Does.ADMIN, "INSERT OVERWRITE DIRECTORY"
    elif words[0] == "WITH" and "CREATE" in changing_words(words):
        said, writes = said_by(words[words.index("CREATE") :]), named_tables(piece)
    if said is None:
        return None
    return Statement(*said, reads=tables_after(piece, "FROM", "JOIN"), writes=writes)


def _doubted(made: Statement, words: list[str], *, whole: bool) -> Statement:
    """A statement with what speaks against how it was read."""
    if changes_own(made):
        verb = f"{made.verb} of the server's own table"
        return replace(made, does=Does.PRIVILEGE, verb=verb)
    if not whole:
        why = "it is a value and no statement"
        return replace(made, does=Does.UNKNOWN, why=why)
    if made.does is Does.UNKNOWN:
        return replace(made, why="it cannot be parsed")
    changing = changing_words(words) if made.does in HARMLESS | {Does.UPKEEP} else []
    why = f"it has the word `{changing[0]}` in a place of its own" if changing else ""
    return replace(made, why=why) if changing else made


def _is_topped(piece: SqlPiece) -> bool:
    """Whether a T-SQL statement says how many rows it changes at the most, and that is no number
    beyond all."""
    words = piece.words
    number = 3 if words[2:3] == ["("] else 2
    if words[1:2] != ["TOP"] or "PERCENT" in words[:6]:
        return False
    return words[number : number + 1] != [NUMBER] or float(piece.tokens[number].text) < MANY_ROWS


def _called_tables(piece: SqlPiece, found: TreeFindings) -> list[str]:
    """Functions that stand where a table belongs and that the parser takes for one: `FROM
    file('x')`."""
    return [
        name
        for name, at in calls_at(piece)
        if name in found.reads
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


def _insert_for(tokens: list[Token]) -> list[Token]:
    """A REPLACE as the INSERT that it is to a parser."""
    own = tokens[0]
    first = Token(TokenType.INSERT, "INSERT", own.line, own.col, own.start, own.end)
    return [first, *tokens[1:]]


def mutating(piece: SqlPiece, text: str) -> str:
    """An `ALTER TABLE … DELETE WHERE …` or `… UPDATE … WHERE …` of ClickHouse's as the text of the
    statement that it is; empty where it is none."""
    words, tokens = piece.words, piece.tokens
    found = [at for at, word in enumerate(words[:16]) if word in ("DELETE", "UPDATE") and at > 2]
    if words[1:2] != ["TABLE"] or not found or "WHERE" not in words[found[0] :]:
        return ""
    at = found[0]
    named = 2 + words[2:at].index("ON") if "ON" in words[2:at] else at
    end = words.index("SETTINGS") if "SETTINGS" in words else len(words)
    table = text[tokens[2].start : tokens[named].start]
    rest = text[tokens[at].end + 1 : tokens[end - 1].end + 1]
    deletes = words[at] == "DELETE"
    return " ".join(["DELETE FROM", table, rest] if deletes else ["UPDATE", table, "SET", rest])


def shown(word: str) -> str:
    """A first word for messages: never a value of the text."""
    return word if word.isalpha() and len(word) < 20 else "?"

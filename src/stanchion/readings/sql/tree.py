"""Trees: what a parsed statement does, to which tables, and to how many of their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion.readings.sql.bounds import inserts_bounded, is_bounded, merges_bounded
from stanchion.readings.sql.burns import LOOKED_AT, burning
from stanchion.readings.sql.credentials import given_out
from stanchion.readings.sql.pure import is_pure
from stanchion.readings.sql.statement import Does
from stanchion.readings.word_lists import listed

if TYPE_CHECKING:
    from sqlglot import exp

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
    from sqlglot import exp

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
    from sqlglot import exp

    burns = burning(node)
    if burns is not None:
        found.burns[burns[0]] = burns[1]
    if isinstance(node, exp.Select) and (column := given_out(node)):
        found.secrets[column] = None


def _note(node: exp.Expr, scope: Scope, found: Found) -> None:
    from sqlglot import exp

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
    from sqlglot import exp

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
    from sqlglot import exp

    if not isinstance(table.this, exp.Identifier | exp.Dot):
        return ""
    return ".".join([part.name.lower() for part in table.parts])


def _change(node: exp.Expr, found: Found, does: Does, verb: str) -> None:
    from sqlglot import exp

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

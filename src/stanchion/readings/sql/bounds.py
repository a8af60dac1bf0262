"""Bounds: whether a statement that changes rows picks them, by its condition, a limit, or what it
is joined with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sqlglot import exp

from stanchion.kernel.regex import regex
from stanchion.readings.sql.rows import Target, holds_all, picks, source_of, table_of, value_of

MANY_ROWS: Final = 1_000_000
"""A limit of that many rows is none."""
_RIGHTS: Final = regex(
    r"(?:^|_)(?:roles?|permissions?|privileges?|grants?|admins?|acls?|superusers?|entitlements?)"
    r"(?:_|$)"
)
"""Tables that say who may do what, by their names."""


def is_bounded(node: exp.Expr) -> bool:
    """Whether an UPDATE or DELETE picks rows."""
    target = node.this
    sources = _sources(node)
    own = _target(target, sources, node)
    if _is_limited(node) or picks(node.args.get("where"), own):
        return True
    if not isinstance(target, exp.Table):
        return False
    query = _queries(node).get(target.name.lower()) if target.args.get("db") is None else None
    if isinstance(query, exp.Select) and (_is_limited(query) or picks(query.args.get("where"))):
        return True
    return any(
        join.args.get("using") or (picks(on, own) and own.names & _tables_in(on))
        for join in _joins(sources)
        if not join.side and join.kind.upper() not in ("CROSS", "OUTER")
        for on in [join.args.get("on")]
    )


def _is_limited(node: exp.Expr) -> bool:
    """Whether a limit says how many rows are changed at the most, and that is no number beyond
    all."""
    limit = node.args.get("limit")
    number = None if limit is None else value_of(limit.args.get("expression"))
    return limit is not None and not (isinstance(number, float) and number >= MANY_ROWS)


def replaces_all(node: exp.Expr) -> bool:
    """Whether a REPLACE takes all rows of its own table, so that it overwrites every row."""
    return holds_all(node.args.get("expression"), table_of(written_table(node)))


def written_table(node: exp.Expr) -> Any:
    """The table that a statement writes to, without the columns that it names."""
    return node.this.this if isinstance(node.this, exp.Schema) else node.this


def inserts_bounded(node: exp.Expr) -> bool:
    """Whether an INSERT only adds rows, or overwrites those that it picks: one that takes all rows
    of its own table and overwrites what is there changes every row."""
    rights = _RIGHTS.search(table_of(written_table(node))) is not None
    if node.args.get("overwrite") or (rights and _takes_all(node.expression)):
        return False
    if node.args.get("alternative") == "REPLACE" and replaces_all(node):
        return False
    conflict = node.args.get("conflict")
    if not isinstance(conflict, exp.OnConflict) or not conflict.expressions:
        return True
    return picks(conflict.args.get("where")) or not replaces_all(node)


def _takes_all(query: Any) -> bool:
    """Whether a query takes every row of some table that it reads."""
    if not isinstance(query, exp.Select) or query.args.get("limit") is not None:
        return False
    source, where = source_of(query), query.args.get("where")
    joins = query.args.get("joins") or []
    if source is None:
        return False
    if any(join.args.get("using") for join in joins):
        return where is None
    conditions = [where, *[join.args.get("on") for join in joins]]
    tables = {name for each in conditions if each is not None for name in _tables_in(each)}
    return "" not in tables and any(
        isinstance(each, exp.Table) and each.alias_or_name.lower() not in tables
        for each in (source, *[join.this for join in joins])
    )


def merges_bounded(node: exp.Expr) -> bool:
    """Whether every branch of a MERGE picks the rows that it changes."""
    return all(_picks_when(when, node) for when in node.find_all(exp.When))


def _picks_when(when: exp.When, merge: exp.Expr) -> bool:
    """Whether one branch of a MERGE adds rows, or picks those that it changes."""
    if isinstance(when.args.get("then"), exp.Insert) or picks(when.args.get("condition")):
        return True
    if when.args.get("source") or merge.args.get("using_cond"):
        return not when.args.get("source")
    return picks(merge.args.get("on"), _target(merge.this, [merge.args.get("using")], merge))


def _sources(node: exp.Expr) -> list[Any]:
    """What a statement reads its rows from, the target first."""
    using = node.args.get("using")
    found = [node.this, source_of(node), *(using if isinstance(using, list) else [])]
    return [each for each in found if isinstance(each, exp.Expr)]


def _joins(sources: list[Any]) -> Iterator[Any]:
    return (join for each in sources for join in each.args.get("joins") or ())


def _target(target: Any, sources: list[Any], node: exp.Expr) -> Target:
    """The table that is changed, under all its names. T-SQL may call it by what a source is
    called."""
    if not isinstance(target, exp.Table):
        return Target()
    also = node.args.get("tables")
    names = {
        target.alias.lower(),
        *map(table_of, [target, *(also if isinstance(also, list) else [])]),
    }
    names -= {""}
    every = [*sources, *[join.this for join in _joins(sources)]]
    called = [table_of(each) for each in every if table_of(each) and each.alias.lower() in names]
    table = called[0] if called else target.name.lower()
    queries = _queries(node)
    whole = {
        each.alias_or_name.lower()
        for each in every
        if each is not target and _is_whole(each, table, queries)
    }
    return Target(frozenset(names), table, frozenset(whole - names))


def _is_whole(source: Any, table: str, queries: dict[str, Any]) -> bool:
    """Whether a source holds every row of a table."""
    if isinstance(source, exp.Subquery):
        return holds_all(source.this, table)
    name = table_of(source)
    return holds_all(queries[name], table) if name in queries else bool(name) and name == table


def _queries(node: exp.Expr) -> dict[str, Any]:
    """The queries that a WITH gave names to, around a statement."""
    found: dict[str, Any] = {}
    here: Any = node
    while here is not None:
        within = here.args.get("with_")
        for query in within.expressions if within is not None else ():
            found.setdefault(query.alias.lower(), query.this)
        here = here.parent
    return found


def _tables_in(condition: exp.Expr) -> set[str]:
    return {column.table.lower() for column in condition.find_all(exp.Column)}

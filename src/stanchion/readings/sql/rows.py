"""Rows: whether a condition picks rows, or is true whatever a row says."""

from __future__ import annotations

from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING, Any, Final

import msgspec

from stanchion.readings.sql.always import always, complete, value_of

if TYPE_CHECKING:
    from sqlglot import exp

_COMPARING: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "eq": eq, "nullsafeeq": eq, "is": eq, "neq": ne, "gt": gt, "gte": ge, "lt": lt, "lte": le,
}  # fmt: skip


class Target(msgspec.Struct, frozen=True):
    """The table whose rows are picked: the names that its columns go by, its name without a schema,
    and the names of other sources that hold every row of it. Without names every column is its
    own."""

    names: frozenset[str] = frozenset()
    table: str = ""
    whole: frozenset[str] = frozenset()

    def owns(self, column: exp.Expr) -> bool:
        """Whether a column may be one of the target's; one without a table may be."""
        table = (
            str(column.args["table"].name).lower() if column.args.get("table") is not None else ""
        )
        return not table or not self.names or table in self.names


ANY: Final = Target()


def picks(condition: Any, target: Target = ANY, negated: bool = False) -> bool:
    """Whether a condition picks rows of the target by what is in them, or picks none at all. What
    is no condition picks nothing."""
    from sqlglot import exp

    if not isinstance(condition, exp.Expr):
        return False
    if isinstance(condition, exp.Paren | exp.Where):
        return picks(condition.this, target, negated)
    if isinstance(condition, exp.Not):
        return picks(condition.this, target, not negated)
    if isinstance(condition, exp.And | exp.Or):
        parts = list(condition.flatten())
        if isinstance(condition, exp.Or) != negated:
            return all(picks(part, target, negated) for part in parts) and not complete(parts)
        return any(picks(part, target, negated) for part in parts)
    known = constant(condition, target)
    if known is not None:
        return (known is not bool(condition.args.get("negate"))) is negated
    return _looks_at_rows(condition, target)


def constant(condition: exp.Expr, target: Target = ANY) -> bool | None:
    """What a condition is for every row, where that is plain to see; a NOT in it is left to the
    caller."""
    from sqlglot import exp

    if isinstance(condition, exp.Boolean):
        return bool(condition.this)
    if isinstance(condition, exp.Literal):
        value = value_of(condition)
        return bool(value) if isinstance(value, float) else None
    compare = _COMPARING.get(condition.key)
    if compare is not None:
        left, right = condition.this, condition.expression
        if left == right or (condition.key == "eq" and _same_row(left, right, target)):
            return compare(0, 0)
        values = [_folded(value_of(side)) for side in (left, right)]
        if None not in values and type(values[0]) is type(values[1]):
            return compare(*values)
    anyone = condition.args.get("expression") if isinstance(condition, exp.EQ) else None
    if isinstance(anyone, exp.Any) and _is_own_column(condition.this, anyone.this, target):
        return True
    if isinstance(condition, exp.In) and _is_own_column(
        condition.this, condition.args.get("query"), target
    ):
        return True
    return always(condition, target.table)


def _folded(value: float | str | None) -> float | str | None:
    """A value as servers compare it that do not tell small letters from capitals."""
    return value.casefold() if isinstance(value, str) else value


def _same_row(left: Any, right: Any, target: Target) -> bool:
    """Whether two columns are the same one, of the target and of something that holds all of its
    rows."""
    from sqlglot import exp

    if (
        not (isinstance(left, exp.Column) and isinstance(right, exp.Column))
        or left.name.lower() != right.name.lower()
    ):
        return False
    tables = {left.table.lower(), right.table.lower()}
    return (
        bool(tables & target.whole)
        and bool(tables & target.names)
        and tables <= target.whole | target.names
    )


def _is_own_column(column: Any, query: Any, target: Target) -> bool:
    """Whether a column is looked for among all rows of its own table."""
    from sqlglot import exp

    query = query.this if isinstance(query, exp.Subquery | exp.Paren) else query
    if not isinstance(column, exp.Column) or not isinstance(query, exp.Select):
        return False
    given = query.expressions[0] if len(query.expressions) == 1 else None
    same = isinstance(given, exp.Column) and given.name.lower() == column.name.lower()
    return same and holds_all(query, target.table)


def holds_all(query: Any, table: str) -> bool:
    """Whether a query gives every row of a table."""
    from sqlglot import exp

    if not table or not isinstance(query, exp.Select):
        return False
    source = query.args.get("from_")
    if (
        source is None
        or not isinstance(source.this, exp.Table)
        or source.this.name.lower() != table
    ):
        return False
    if any(
        query.args.get(part)
        for part in ("joins", "limit", "offset", "having", "group", "qualify", "sample")
    ):
        return False
    where = query.args.get("where")
    return where is None or not picks(where, Target(frozenset(), table))


def _looks_at_rows(condition: exp.Expr, target: Target) -> bool:
    """Whether there is a column of the target's in it outside of queries of its own, or a query
    that picks by one."""
    from sqlglot import exp

    waiting: list[exp.Expr] = [condition]
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.Column):
            if target.owns(node):
                return True
        elif isinstance(node, exp.Select):
            if _is_about(node, target):
                return True
        else:
            waiting += node.iter_expressions()
    return False


def _is_about(query: exp.Select, target: Target) -> bool:
    """Whether a query inside a condition asks about the row that is looked at: its condition names
    a column of the target's, or compares a column without a table with another one."""
    from sqlglot import exp

    where = query.args.get("where")
    if where is None:
        return False
    sources = [table for table in query.find_all(exp.Table) if table.parent_select is query]
    again = {
        (each.alias if each.alias else each.name).lower()
        for each in sources
        if each.name.lower() == target.table
    }
    inner = msgspec.structs.replace(target, whole=target.whole | (again - target.names))
    if not picks(where, inner):
        return False
    if not target.names:
        return True
    columns = list(where.find_all(exp.Column))
    return any(
        column.table.lower() in target.names - again
        or (not column.table and isinstance(column.parent, exp.Binary) and _beside(column))
        for column in columns
    )


def _beside(column: exp.Expr) -> bool:
    """Whether a column is compared with another one."""
    from sqlglot import exp

    parent = column.parent
    return parent is not None and all(
        isinstance(side, exp.Column) for side in (parent.this, parent.expression)
    )

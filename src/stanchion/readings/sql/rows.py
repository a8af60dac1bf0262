"""Rows: whether a condition picks rows, or is true whatever a row says."""

from __future__ import annotations

from collections.abc import Callable
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sqlglot import exp

_COMPARING: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "eq": eq, "nullsafeeq": eq, "is": eq, "neq": ne, "gt": gt, "gte": ge, "lt": lt, "lte": le,
}  # fmt: skip


def picks(condition: Any, negated: bool = False) -> bool:
    """Whether a condition picks rows by what is in them, or picks none at all. What is no condition picks nothing."""
    from sqlglot import exp

    if not isinstance(condition, exp.Expr):
        return False
    if isinstance(condition, exp.Paren | exp.Where):
        return picks(condition.this, negated)
    if isinstance(condition, exp.Not):
        return picks(condition.this, not negated)
    if isinstance(condition, exp.And | exp.Or):
        parts = list(condition.flatten())
        if isinstance(condition, exp.Or) != negated:
            return all(picks(part, negated) for part in parts) and not _complementary(parts)
        return any(picks(part, negated) for part in parts)
    known = constant(condition)
    if known is not None:
        return (known is not bool(condition.args.get("negate"))) is negated
    return _looks_at_rows(condition)


def constant(condition: exp.Expr) -> bool | None:
    """What a condition is for every row, where that is plain to see; a NOT in it is left to the caller."""
    from sqlglot import exp

    if isinstance(condition, exp.Boolean):
        return bool(condition.this)
    if isinstance(condition, exp.Literal):
        value = _value(condition)
        return bool(value) if isinstance(value, float) else None
    compare = _COMPARING.get(condition.key)
    if compare is not None:
        left, right = condition.this, condition.expression
        if left == right:
            return compare(0, 0)
        values = _value(left), _value(right)
        if None not in values and type(values[0]) is type(values[1]):
            return compare(*values)
    if isinstance(condition, exp.Like | exp.ILike):
        pattern = condition.expression
        if isinstance(pattern, exp.Literal) and pattern.is_string and pattern.this and not pattern.this.strip("%"):
            return True
    return None


def _value(node: Any) -> float | str | None:
    from sqlglot import exp

    if isinstance(node, exp.Paren):
        return _value(node.this)
    if isinstance(node, exp.Neg):
        value = _value(node.this)
        return -value if isinstance(value, float) else None
    if isinstance(node, exp.Boolean):
        return float(bool(node.this))
    if not isinstance(node, exp.Literal):
        return None
    if node.is_string:
        return str(node.this)
    try:
        return float(node.this)
    except ValueError:
        return None


def _complementary(parts: list[exp.Expr]) -> bool:
    """Whether some part is the opposite of another: one of the two is always true."""
    from sqlglot import exp

    opposites: set[Any] = {part.this for part in parts if isinstance(part, exp.Not)}
    opposites |= {_sides(part) for part in parts if part.args.get("negate")}
    return any(part in opposites or (not part.args.get("negate") and _sides(part) in opposites) for part in parts)


def _sides(part: exp.Expr) -> tuple[str, Any, Any]:
    return part.key, part.args.get("this"), part.args.get("expression")


def _looks_at_rows(condition: exp.Expr) -> bool:
    """Whether there is a column in it outside of queries of its own, or a query that picks by one."""
    from sqlglot import exp

    waiting: list[exp.Expr] = [condition]
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.Column):
            return True
        if isinstance(node, exp.Select):
            if picks(node.args.get("where")):
                return True
            continue
        waiting += node.iter_expressions()
    return False

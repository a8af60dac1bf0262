"""Burns: queries that make more rows or longer texts than a server can hold, or that never end."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from sqlglot import exp

from stanchion.readings.sql.rows import picks, value_of
from stanchion.readings.word_lists import listed

ENORMOUS: Final = 5e7
"""More rows, and longer texts, are not made for an answer."""
MANY: Final = 3
"""As many tables are not multiplied for an answer."""

SERIES: Final = listed("generateseries explodinggenerateseries")
_MAKING: Final = listed(
    "generate_series range numbers numbers_mt zeros zeros_mt seq sequence randomblob zeroblob "
    "generator"
)
_LONG: Final = listed("repeat space pad randomblob zeroblob replicate rpad lpad")
LOOKED_AT: Final = SERIES | _LONG | {"select", "with", "connect", "anonymous", "kwarg"}
"""What in a tree may burn."""


def burning(node: exp.Expr) -> tuple[str, str] | None:
    """What burns here, and how; nothing where nothing does."""
    called = isinstance(node, exp.Anonymous)
    name = str(node.this).lower() if called else node.key
    many = "makes more rows than a server can hold"
    if node.key in SERIES or (called and name in _MAKING):
        name = "generate_series" if node.key in SERIES else name
        burns, how = _size(node) >= ENORMOUS, many
    elif name in _LONG:
        burns, how = _size(node) >= ENORMOUS, "makes a text that no server can hold"
    elif isinstance(node, exp.Connect):
        name, burns, how = "CONNECT BY", _bound(node) >= ENORMOUS, many
    elif isinstance(node, exp.With):
        burns = any(_is_endless(each, node) for each in node.expressions)
        name, how = "WITH RECURSIVE", "never ends"
    elif isinstance(node, exp.Select):
        burns, name, how = (
            _multiplies(node),
            "CROSS JOIN",
            "multiplies whole tables with each other",
        )
    else:
        return None
    return (name, how) if burns else None


def _size(node: exp.Expr) -> float:
    """The largest number that is given to a function."""
    numbers = [value_of(each) for each in node.iter_expressions()]
    return max([number for number in numbers if isinstance(number, float)], default=0.0)


def _bound(node: exp.Expr) -> float:
    """The largest number in a condition; without one there is no end."""
    numbers = [value_of(each) for each in node.find_all(exp.Literal)]
    return max([number for number in numbers if isinstance(number, float)], default=0.0)


def _is_endless(query: Any, within: exp.With) -> bool:
    """Whether a query of a WITH takes up itself, and nothing else, without a condition that ends
    it."""
    union = query.this
    if (
        not isinstance(union, exp.Union)
        or union.args.get("limit") is not None
        or union.args.get("distinct")
    ):
        return False
    again = union.expression
    if (
        not isinstance(again, exp.Select)
        or again.args.get("joins")
        or again.args.get("limit") is not None
    ):
        return False
    source = again.args.get("from_")
    name = query.alias.lower()
    if source is None or not isinstance(source.this, exp.Table) or source.this.name.lower() != name:
        return False
    outer = within.parent
    where = again.args.get("where")
    if where is not None and picks(where):
        return _bound(where) >= ENORMOUS
    return not (
        isinstance(outer, exp.Select)
        and outer.args.get("limit") is not None
        and not _gathers(outer)
    )


def _gathers(query: exp.Select) -> bool:
    """Whether a query has to see every row before it gives one."""
    gathered = any(each.find(exp.AggFunc) is not None for each in query.expressions)
    return gathered or query.args.get("order") is not None or query.args.get("group") is not None


def _multiplies(query: exp.Select) -> bool:
    """Whether a query joins whole tables without any condition: one with itself, or many; or long
    series."""
    source, joins = query.args.get("from_"), query.args.get("joins")
    if source is None or not joins or query.args.get("where") is not None:
        return False
    if any(
        join.args.get("on") is not None or join.args.get("using") or join.method for join in joins
    ):
        return False
    tables = [
        each
        for each in (source.this, *[join.this for join in joins])
        if isinstance(each, exp.Table)
    ]
    names = [each.name.lower() for each in tables if isinstance(each.this, exp.Identifier)]
    product = 1.0
    for each in tables:
        made = each.this
        if made.key in SERIES or (
            isinstance(made, exp.Anonymous) and str(made.this).lower() in _MAKING
        ):
            product *= max(1.0, _size(made))
    return (
        product >= ENORMOUS
        or max(Counter(names).values(), default=0) >= MANY
        or len(set(names)) > MANY
    )

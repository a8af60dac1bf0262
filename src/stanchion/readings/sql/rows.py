"""Rows: whether a condition picks rows, or is true whatever a row says."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final

import msgspec
from sqlglot import exp

from stanchion.kernel.regex import regex
from stanchion.readings.sql import WORDS
from stanchion.readings.word_lists import listed

KEYS: Final = listed("id pk uuid guid rowid _rowid_ oid ctid _id row_id rownum")
"""Columns that are there in every row."""
COUNTING: Final = WORDS["counting"]
"""Functions that give no negative number."""
ENORMOUS: Final = 1e9
"""No key of a table that is not enormous is above it."""
_MADE: Final = regex(
    r"(?:^|_)(?:created|inserted|updated|modified|registered|added|recorded|loaded|ingested)(?:_|$)"
)
"""How columns are named that say when a row was made."""
_YEAR: Final = regex(r"\s*(\d{4})-\d\d?-\d\d?")
_LONG_AGO: Final = 1980
_FAR: Final = 2100
_NOW: Final = listed(
    "currenttimestamp currentdate currentdatetime currenttime currenttimestampltz sysdate "
    "localtime now getdate"
)
_PARTS: Final = {
    "dayofweek": (7, 0), "dow": (7, 0), "weekday": (7, 0), "month": (12, 1), "quarter": (4, 1),
    "dayofweekiso": (7, 1),
}  # fmt: skip
"""Parts of a date that have few values: how many there are, and the first."""
_TURNED: Final = {"gt": "lt", "lt": "gt", "gte": "lte", "lte": "gte"}
_COMPARING: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "eq": eq, "nullsafeeq": eq, "is": eq, "neq": ne, "gt": gt, "gte": ge, "lt": lt, "lte": le,
}  # fmt: skip
_FEWER: Final = listed("joins limit offset having group qualify sample")
"""Parts with which a query may leave rows of its table out."""


class RowTarget(msgspec.Struct, frozen=True):
    """The table whose rows are picked: the names that its columns go by, its name without a schema,
    and the names of other sources that hold every row of it. Without names every column is its
    own."""

    names: frozenset[str] = frozenset()
    table: str = ""
    whole: frozenset[str] = frozenset()

    def owns(self, column: exp.Expr) -> bool:
        """Whether a column may be one of the target's; one without a table may be."""
        table = column.text("table").lower()
        return not table or not self.names or table in self.names


ANY: Final = RowTarget()


def value_of(node: Any) -> float | str | None:
    """The value of something that is written out."""
    if isinstance(node, exp.Paren | exp.Cast):
        return value_of(node.this)
    if isinstance(node, exp.Neg):
        value = value_of(node.this)
        return -value if isinstance(value, float) else None
    if isinstance(node, exp.Boolean):
        return float(bool(node.this))
    if not isinstance(node, exp.Literal):
        return None
    try:
        return str(node.this) if node.is_string else float(node.this)
    except ValueError:
        return None


def name_of(node: Any) -> str:
    """The name of a function, or the kind of anything else, in small letters."""
    return str(node.this).lower() if isinstance(node, exp.Anonymous) else str(node.key)


def column_of(node: Any) -> str:
    """The name of a column, in small letters; empty for anything else."""
    return node.name.lower() if isinstance(node, exp.Column) else ""


def table_of(node: Any) -> str:
    """The name of a table without its schema, in small letters; empty for anything else."""
    return node.name.lower() if isinstance(node, exp.Table) else ""


def source_of(query: Any) -> Any:
    """What a query reads its rows from first; none where it reads none."""
    source = query.args.get("from_")
    return None if source is None else source.this


def is_key(node: Any, table: str) -> bool:
    """Whether a column is the key of its table by its name: `id`, or `invoice_id` in `invoices`."""
    name, plain = column_of(node), table.replace("_", "")
    stem = name[:-2].replace("_", "") if name.endswith("id") else ""
    same = plain.rstrip("s") == stem or plain in (f"{stem[:-1]}ies", f"{stem}es")
    return name in KEYS or (len(stem) > 2 and same)


def picks(condition: Any, target: RowTarget = ANY, negated: bool = False) -> bool:
    """Whether a condition picks rows of the target by what is in them, or picks none at all. What
    is no condition picks nothing."""
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


def constant(condition: exp.Expr, target: RowTarget = ANY) -> bool | None:
    """What a condition is for every row, where that is plain to see; a NOT in it is left to the
    caller."""
    if isinstance(condition, exp.Boolean | exp.Literal):
        value = value_of(condition)
        return bool(value) if isinstance(value, float) else None
    left, right = condition.this, condition.args.get("expression")
    compare = _COMPARING.get(condition.key)
    if compare is not None:
        if left == right or (condition.key == "eq" and _same_row(left, right, target)):
            return compare(0, 0)
        values = [
            value.casefold() if isinstance(value, str) else value
            for value in (value_of(left), value_of(right))
        ]  # some servers do not tell small letters from capitals
        if None not in values and type(values[0]) is type(values[1]):
            return compare(*values)
    anyone = right.this if isinstance(right, exp.Any) and condition.key == "eq" else None
    among = condition.args.get("query") if isinstance(condition, exp.In) else anyone
    if _is_own_column(left, among, target):
        return True
    return always(condition, target.table)


def always(condition: exp.Expr, table: str) -> bool | None:
    """Whether a condition that looks at a row is true of every row, or of none; a NOT in it is left
    to the caller."""
    asked = _ALWAYS.get(condition.key)
    return None if asked is None else asked(condition, table)


def _matches(condition: exp.Expr, _table: str) -> bool | None:
    """Whether a pattern matches every text."""
    pattern = condition.expression
    if not isinstance(pattern, exp.Literal) or not pattern.is_string:
        return None
    text = str(pattern.this)
    if isinstance(condition, exp.RegexpLike):
        return True if text.strip("^$()") in (".*", ".+", "", ".", ".*?") else None
    return True if "%" in text and not text.strip("%_") else None


def _is_null(condition: exp.Expr, table: str) -> bool | None:
    """A key, or what has a value where it would have none, is never without one."""
    left = condition.this
    other = left.expressions[-1:] if isinstance(left, exp.Coalesce) else []
    filled = is_key(left, table) or any(value_of(each) is not None for each in other)
    return False if filled and isinstance(condition.expression, exp.Null) else None


def _among(condition: exp.Expr, table: str) -> bool | None:
    """A key is never among values that no key has."""
    values = [value_of(each) for each in condition.expressions]
    none = all(each <= 0 if isinstance(each, float) else each in ("", "0") for each in values)
    return False if values and none and is_key(condition.this, table) else None


def _spans(condition: exp.Expr, table: str) -> bool | None:
    low, high = value_of(condition.args["low"]), value_of(condition.args["high"])
    wide = isinstance(low, float) and isinstance(high, float) and low <= 1 and high >= ENORMOUS
    return True if wide and is_key(condition.this, table) else None


def _compares(condition: exp.Expr, table: str) -> bool | None:
    """A comparison with a constant on one side: what it is of every row."""
    key, left, right = condition.key, condition.this, condition.expression
    if value_of(left) is not None and value_of(right) is None:
        key, left, right = _TURNED.get(key, key), right, left
    value, own = value_of(right), is_key(left, table)
    if isinstance(value, float):
        least = _at_least(left, own)
        below = {"gt": value + 1 <= least, "gte": value <= least}.get(key, value < least)
        surely = value >= ENORMOUS and own if key in ("lt", "lte") else below
        return key != "eq" if surely else None
    if value == "" and own and key in ("gt", "gte", "neq"):
        return True
    made = key in _TURNED and _MADE.search(column_of(left)) is not None
    return True if made and _is_beyond(key in ("lt", "lte"), right, value) else None


def _is_beyond(later: bool, right: Any, value: str | None) -> bool:
    """Whether a date is before all rows, or `later` than all of them."""
    found = _YEAR.match(value) if value is not None else None
    if found is None:
        return later and name_of(right) in _NOW
    return int(found[1]) >= _FAR if later else int(found[1]) <= _LONG_AGO


_ALWAYS: Final[dict[str, Callable[[exp.Expr, str], bool | None]]] = {
    **dict.fromkeys(("like", "ilike", "regexplike", "similarto"), _matches),
    **dict.fromkeys(("eq", "neq", *_TURNED), _compares),
    "is": _is_null,
    "in": _among,
    "between": _spans,
}
"""What tells of a kind of condition whether it is the same for every row."""


def _at_least(node: Any, own: bool) -> float:
    """The least value of something; minus infinity where it has none."""
    if own:
        return 1.0
    return 0.0 if name_of(node) in COUNTING or column_of(node).endswith("_id") else -inf


def complete(parts: list[exp.Expr]) -> bool:
    """Whether one of these conditions holds whatever a row says: some part is the opposite of
    another, or together they name every value."""
    opposites: set[Any] = {part.this for part in parts if isinstance(part, exp.Not)}
    opposites |= {_sides(part) for part in parts if part.args.get("negate")}
    opposite = any(
        part in opposites or (not part.args.get("negate") and _sides(part) in opposites)
        for part in parts
    )
    return opposite or _all_numbers(parts) or _all_values(parts)


def _sides(part: exp.Expr) -> tuple[str, Any, Any]:
    return part.key, part.args.get("this"), part.args.get("expression")


def _all_numbers(parts: list[exp.Expr]) -> bool:
    """Whether comparisons of one thing leave no value out: what is below one bound and above a
    lower one, a value and every other, or all but different ones."""
    ends: dict[Any, list[float]] = {}
    named: dict[Any, tuple[set[Any], set[Any]]] = {}
    for part in parts:
        key, left, right = _sides(part)
        value = value_of(right)
        if value is not None and key in ("eq", "neq"):
            named.setdefault(left, (set(), set()))[key == "neq"].add(value)
        elif isinstance(value, float) and key in _TURNED:
            above, below = ends.get(left, [inf, -inf])
            value += 0.5 if key in ("gt", "lte") else 0
            up = key in ("gt", "gte")
            ends[left] = [min(above, value), below] if up else [above, max(below, value)]
    return any(above <= below for above, below in ends.values()) or any(
        len(others) > 1 or not others.isdisjoint(values) for values, others in named.values()
    )


def _all_values(parts: list[exp.Expr]) -> bool:
    """Whether every value is named that something can have: a flag's two, a remainder's, those of a
    part of a date."""
    named: dict[Any, set[float | str]] = {}
    for part in parts:
        given = part.expressions if isinstance(part, exp.In) else [part.args.get("expression")]
        if part.key in ("eq", "is", "in") and not part.args.get("negate"):
            named.setdefault(part.this, set()).update(
                [value if not isinstance(each, exp.Boolean) else f"bool {value}" for each in given
                 if (value := value_of(each)) is not None]
            )  # fmt: skip
    return any(_is_all(thing, values) for thing, values in named.items())


def _is_all(thing: Any, values: set[float | str]) -> bool:
    if {"bool 0.0", "bool 1.0"} <= values:
        return True
    part = str(thing.this).lower() if isinstance(thing, exp.Extract) else name_of(thing)
    count, first = _PARTS.get(part, (0, 0))
    size = value_of(thing.expression) if isinstance(thing, exp.Mod) else None
    count = int(size) if isinstance(size, float) and size <= len(values) else count
    return count > 0 and {float(each) for each in range(first, first + count)} <= values


def _same_row(left: Any, right: Any, target: RowTarget) -> bool:
    """Whether two columns are the same one, of the target and of something that holds all of its
    rows."""
    if not column_of(left) or column_of(left) != column_of(right):
        return False
    tables = {left.table.lower(), right.table.lower()}
    both = bool(tables & target.whole) and bool(tables & target.names)
    return both and tables <= target.whole | target.names


def _is_own_column(column: Any, query: Any, target: RowTarget) -> bool:
    """Whether a column is looked for among all rows of its own table."""
    query = query.this if isinstance(query, exp.Subquery | exp.Paren) else query
    if not isinstance(query, exp.Select) or len(query.expressions) != 1:
        return False
    name = column_of(column)
    return bool(name) and column_of(query.expressions[0]) == name and holds_all(query, target.table)


def holds_all(query: Any, table: str) -> bool:
    """Whether a query gives every row of a table."""
    if not table or not isinstance(query, exp.Select) or table_of(source_of(query)) != table:
        return False
    if any(query.args.get(part) for part in _FEWER):
        return False
    where = query.args.get("where")
    return where is None or not picks(where, RowTarget(frozenset(), table))


def _looks_at_rows(condition: exp.Expr, target: RowTarget) -> bool:
    """Whether there is a column of the target's in it outside of queries of its own, or a query
    that picks by one."""
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


def _is_about(query: exp.Select, target: RowTarget) -> bool:
    """Whether a query inside a condition asks about the row that is looked at: its condition names
    a column of the target's, or compares a column without a table with another one."""
    where = query.args.get("where")
    if where is None:
        return False
    again = {
        each.alias_or_name.lower()
        for each in query.find_all(exp.Table)
        if each.parent_select is query and table_of(each) == target.table
    }
    inner = msgspec.structs.replace(target, whole=target.whole | (again - target.names))
    if not picks(where, inner):
        return False
    return not target.names or any(
        column.table.lower() in target.names - again or (not column.table and _beside(column))
        for column in where.find_all(exp.Column)
    )


def _beside(column: exp.Expr) -> bool:
    """Whether a column is compared with another one."""
    parent = column.parent
    return isinstance(parent, exp.Binary) and all(
        isinstance(side, exp.Column) for side in (parent.this, parent.expression)
    )

"""Rows: whether a condition picks rows, or is true whatever a row says."""

from __future__ import annotations

from collections.abc import Callable
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
    "currenttimestamp currentdate currentdatetime currenttime currenttimestampltz sysdate localtime"
)
_PARTS: Final = {
    "dayofweek": (7, 0), "dow": (7, 0), "weekday": (7, 0), "month": (12, 1), "quarter": (4, 1),
    "dayofweekiso": (7, 1),
}  # fmt: skip
"""Parts of a date that have few values: how many there are, and the first."""
_TURNED: Final = {"gt": "lt", "lt": "gt", "gte": "lte", "lte": "gte"}


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
    if node.is_string:
        return str(node.this)
    try:
        return float(node.this)
    except ValueError:
        return None


def always(condition: exp.Expr, table: str) -> bool | None:
    """Whether a condition that looks at a row is true of every row, or of none; a NOT in it is left
    to the caller."""
    if isinstance(condition, exp.Like | exp.ILike | exp.RegexpLike | exp.SimilarTo):
        return _matches_all(condition)
    if isinstance(condition, exp.Is):
        none = isinstance(condition.expression, exp.Null)
        return (
            False
            if none and (is_key(condition.this, table) or _is_filled(condition.this))
            else None
        )
    if isinstance(condition, exp.In):
        return _among(condition, table)
    if isinstance(condition, exp.Between):
        low, high = value_of(condition.args["low"]), value_of(condition.args["high"])
        wide = isinstance(low, float) and isinstance(high, float) and low <= 1 and high >= ENORMOUS
        return True if wide and is_key(condition.this, table) else None
    if isinstance(condition, exp.GT | exp.GTE | exp.LT | exp.LTE | exp.NEQ | exp.EQ):
        return _compares(condition, table)
    return None


def _is_filled(node: Any) -> bool:
    """Whether something has a value where it would have none."""
    return (
        isinstance(node, exp.Coalesce)
        and bool(node.expressions)
        and value_of(node.expressions[-1]) is not None
    )


def is_key(node: Any, table: str) -> bool:
    """Whether a column is the key of its table by its name: `id`, or `invoice_id` in `invoices`."""
    if not isinstance(node, exp.Column):
        return False
    name = node.name.lower()
    stem = name[:-3] if name.endswith("_id") else name[:-2] if name.endswith("id") else ""
    plain = table.replace("_", "")
    stem = stem.replace("_", "")
    own = (
        bool(stem)
        and len(stem) > 2
        and (plain.rstrip("s") == stem or plain in (f"{stem[:-1]}ies", f"{stem}es"))
    )
    return name in KEYS or own


def _matches_all(condition: exp.Expr) -> bool | None:
    pattern = condition.expression
    if not (isinstance(pattern, exp.Literal) and pattern.is_string):
        return None
    text = str(pattern.this)
    if isinstance(condition, exp.RegexpLike):
        return True if text.strip("^$()") in (".*", ".+", "", ".", ".*?") else None
    return True if "%" in text and not text.strip("%_") else None


def _among(condition: exp.In, table: str) -> bool | None:
    """A key among values that no key has: never."""
    values = [value_of(each) for each in condition.expressions]
    none = bool(values) and all(
        value in ("", "0") or (isinstance(value, float) and value <= 0) for value in values
    )
    return False if none and is_key(condition.this, table) else None


def _compares(condition: exp.Expr, table: str) -> bool | None:
    """A comparison with a constant on one side."""
    key, left, right = condition.key, condition.this, condition.expression
    if value_of(left) is not None and value_of(right) is None:
        key, left, right = _TURNED.get(key, key), right, left
    value = value_of(right)
    if key == "eq":
        return False if isinstance(value, float) and _below(left, table, value) else None
    if key in ("gt", "gte", "neq"):
        if isinstance(value, float) and key == "neq":
            return True if _below(left, table, value) else None
        if isinstance(value, float):
            return True if _at_least(left, table) >= value + (0 if key == "gte" else 1) else None
        if value == "" and is_key(left, table):
            return True
        return True if key != "neq" and _is_past(left, value) else None
    if isinstance(value, float):
        return True if value >= ENORMOUS and is_key(left, table) else None
    return True if _is_future(left, right, value) else None


def _below(node: Any, table: str, value: float) -> bool:
    """Whether something is never that small."""
    return value < _at_least(node, table)


def _at_least(node: Any, table: str) -> float:
    """The least value of something; minus infinity where it has none."""
    if is_key(node, table):
        return 1.0
    name = str(node.this).lower() if isinstance(node, exp.Anonymous) else node.key
    if name in COUNTING:
        return 0.0
    if isinstance(node, exp.Column) and node.name.lower().endswith("_id"):
        return 0.0
    return float("-inf")


def _is_past(node: Any, value: float | str | None) -> bool:
    year = _YEAR.match(value) if isinstance(value, str) else None
    made = isinstance(node, exp.Column) and _MADE.search(node.name.lower()) is not None
    return made and year is not None and int(year[1]) <= _LONG_AGO


def _is_future(node: Any, right: Any, value: float | str | None) -> bool:
    if not isinstance(node, exp.Column) or _MADE.search(node.name.lower()) is None:
        return False
    year = _YEAR.match(value) if isinstance(value, str) else None
    name = str(right.this).lower() if isinstance(right, exp.Anonymous) else right.key
    return (year is not None and int(year[1]) >= _FAR) or name in _NOW or name in ("now", "getdate")


def complete(parts: list[exp.Expr]) -> bool:
    """Whether one of these conditions holds whatever a row says: some part is the opposite of
    another, or together they name every value."""
    return _opposite(parts) or _all_numbers(parts) or _all_values(parts)


def _opposite(parts: list[exp.Expr]) -> bool:
    opposites: set[Any] = {part.this for part in parts if isinstance(part, exp.Not)}
    opposites |= {_sides(part) for part in parts if part.args.get("negate")}
    return any(
        part in opposites or (not part.args.get("negate") and _sides(part) in opposites)
        for part in parts
    )


def _sides(part: exp.Expr) -> tuple[str, Any, Any]:
    return part.key, part.args.get("this"), part.args.get("expression")


def _all_numbers(parts: list[exp.Expr]) -> bool:
    """Whether comparisons of one thing leave no value out: what is below one bound, and what is
    above a lower one."""
    below: dict[Any, float] = {}
    above: dict[Any, float] = {}
    other: dict[Any, set[Any]] = {}
    for part in parts:
        value, left = value_of(part.args.get("expression")), part.args.get("this")
        if value is None or left is None:
            continue
        if part.key in ("neq", "eq"):
            if part.key == "eq" and value in other.get(left, ()):
                return True
            other.setdefault(left, set()).add(value if part.key == "neq" else ("=", value))
            if part.key == "neq" and len(other[left] - {("=", value)}) != len(other[left]):
                return True
            if len([each for each in other[left] if not isinstance(each, tuple)]) > 1:
                return True
        elif part.key in ("lt", "lte") and isinstance(value, float):
            below[left] = max(below.get(left, value), value + (0.5 if part.key == "lte" else 0))
        elif part.key in ("gt", "gte") and isinstance(value, float):
            above[left] = min(above.get(left, value + 1), value + (0.5 if part.key == "gt" else 0))
    return any(left in above and above[left] <= bound for left, bound in below.items())


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
    if isinstance(thing, exp.Mod):
        size = value_of(thing.expression)
        return (
            isinstance(size, float)
            and 0 < size <= len(values)
            and {*map(float, range(int(size)))} <= values
        )
    part = str(thing.this).lower() if isinstance(thing, exp.Extract | exp.Anonymous) else thing.key
    count, first = _PARTS.get(part, (0, 0))
    return bool(count) and {float(each) for each in range(first, first + count)} <= values


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
    query = query.this if isinstance(query, exp.Subquery | exp.Paren) else query
    if not isinstance(column, exp.Column) or not isinstance(query, exp.Select):
        return False
    given = query.expressions[0] if len(query.expressions) == 1 else None
    same = isinstance(given, exp.Column) and given.name.lower() == column.name.lower()
    return same and holds_all(query, target.table)


def holds_all(query: Any, table: str) -> bool:
    """Whether a query gives every row of a table."""
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
    parent = column.parent
    return parent is not None and all(
        isinstance(side, exp.Column) for side in (parent.this, parent.expression)
    )

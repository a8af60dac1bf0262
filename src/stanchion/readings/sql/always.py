"""Always true: conditions that look at a row, and yet hold for every one.

A key is there and positive, a length is not negative, a row was not made in the future; and of `a <
5 OR a >= 5` one half holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import listed

if TYPE_CHECKING:
    from sqlglot import exp

KEYS: Final = listed("id pk uuid guid rowid _rowid_ oid ctid _id row_id rownum")
"""Columns that are there in every row."""
COUNTING: Final = listed(
    """
    length char_length character_length len octet_length datalength bit_length lengthb abs count cardinality array_size
    array_length json_array_length lengthutf8 byte_length
    """  # noqa: E501
)
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
    from sqlglot import exp

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
    from sqlglot import exp

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
    from sqlglot import exp

    return (
        isinstance(node, exp.Coalesce)
        and bool(node.expressions)
        and value_of(node.expressions[-1]) is not None
    )


def is_key(node: Any, table: str) -> bool:
    """Whether a column is the key of its table by its name: `id`, or `invoice_id` in `invoices`."""
    from sqlglot import exp

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
    from sqlglot import exp

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
    from sqlglot import exp

    if is_key(node, table):
        return 1.0
    name = str(node.this).lower() if isinstance(node, exp.Anonymous) else node.key
    if name in COUNTING:
        return 0.0
    if isinstance(node, exp.Column) and node.name.lower().endswith("_id"):
        return 0.0
    return float("-inf")


def _is_past(node: Any, value: float | str | None) -> bool:
    from sqlglot import exp

    year = _YEAR.match(value) if isinstance(value, str) else None
    made = isinstance(node, exp.Column) and _MADE.search(node.name.lower()) is not None
    return made and year is not None and int(year[1]) <= _LONG_AGO


def _is_future(node: Any, right: Any, value: float | str | None) -> bool:
    from sqlglot import exp

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
    from sqlglot import exp

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
    from sqlglot import exp

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
    from sqlglot import exp

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

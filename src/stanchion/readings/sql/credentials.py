"""Credentials: whether a query gives out columns that hold passwords and keys, for more than one
row."""

from __future__ import annotations

from typing import Any, Final

from sqlglot import exp

from stanchion.kernel.regex import regex
from stanchion.readings.sql.rows import is_key, value_of
from stanchion.readings.sql.tables import is_credential
from stanchion.readings.word_lists import listed

_TELLING: Final = listed(
    "count approxdistinct length is not eq neq case exists in if nullif isnull countif"
)
"""What says something about a value, and does not give it out."""
_NAMING: Final = regex(
    r"(?:.*_)?(?:id|email|e_mail|mail|username|user_name|login|name|key|token|hash|slug|uuid|"
    r"handle)"
)
"""Columns by which one row is asked for."""


def given_out(query: exp.Expr) -> str:
    """The first column with a password or a key that a query gives out for many; empty where there
    is none."""
    found = next((name for each in query.expressions if (name := _shown(each))), "")
    return "" if not found or _asks_for_one(query) else found


def _shown(node: Any) -> str:
    waiting: list[Any] = [node]
    while waiting:
        here = waiting.pop()
        if isinstance(here, exp.Column):
            if is_credential(here.name.lower()):
                return here.name.lower()
        elif here.key not in _TELLING and not isinstance(here, exp.Query):
            waiting += here.iter_expressions()
    return ""


def _asks_for_one(query: exp.Expr) -> bool:
    """Whether a condition names the one whose row it is."""
    where = query.args.get("where")
    if query.args.get("from_") is None:
        return True
    parts = (
        list(where.this.flatten()) if where is not None and isinstance(where.this, exp.And) else []
    )
    parts = parts if parts or where is None else [where.this]
    return any(
        isinstance(part, exp.EQ) and _names_one(part.this, part.expression) for part in parts
    )


def _names_one(left: Any, right: Any) -> bool:
    given = value_of(right) is not None or isinstance(right, exp.Placeholder | exp.Parameter)
    column = isinstance(left, exp.Column) and (
        is_key(left, "") or _NAMING.fullmatch(left.name.lower()) is not None
    )
    return given and column

"""Queries: which rows they pick, how many, and what they ask for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from sqlglot import exp

from stanchion.kernel.regex import regex
from stanchion.readings.sql import WORDS
from stanchion.readings.sql.rows import (
    RowTarget,
    column_of,
    holds_all,
    is_key,
    name_of,
    picks,
    source_of,
    table_of,
    value_of,
)
from stanchion.readings.word_lists import listed

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


def _target(target: Any, sources: list[Any], node: exp.Expr) -> RowTarget:
    """The table that is changed, under all its names. T-SQL may call it by what a source is
    called."""
    if not isinstance(target, exp.Table):
        return RowTarget()
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
    return RowTarget(frozenset(names), table, frozenset(whole - names))


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
LOOKED_AT: Final = SERIES | _LONG | {"select", "with", "connect", "anonymous"}
"""What in a tree may burn."""


def burning(node: exp.Expr) -> tuple[str, str] | None:
    """What burns here, and how; nothing where nothing does."""
    name, how = name_of(node), "makes more rows than a server can hold"
    if _is_making(node):
        name = "generate_series" if node.key in SERIES else name
        burns = _size(node) >= ENORMOUS
    elif name in _LONG:
        burns, how = _size(node) >= ENORMOUS, "makes a text that no server can hold"
    elif isinstance(node, exp.Connect):
        name, burns = "CONNECT BY", _bound(node) >= ENORMOUS
    elif isinstance(node, exp.With):
        burns = any(_is_endless(each, node.parent) for each in node.expressions)
        name, how = "WITH RECURSIVE", "never ends"
    else:
        burns = isinstance(node, exp.Select) and _multiplies(node)
        name, how = "CROSS JOIN", "multiplies whole tables with each other"
    return (name, how) if burns else None


def _is_making(node: exp.Expr) -> bool:
    """Whether a function makes rows."""
    made = isinstance(node, exp.Anonymous) and name_of(node) in _MAKING
    return made or node.key in SERIES


def _size(node: exp.Expr) -> float:
    """The largest number that is given to a function."""
    numbers = map(value_of, node.iter_expressions())
    return max([number for number in numbers if isinstance(number, float)], default=0.0)


def _bound(node: exp.Expr) -> float:
    """The largest number in a condition; without one there is no end."""
    numbers = map(value_of, node.find_all(exp.Literal))
    return max([number for number in numbers if isinstance(number, float)], default=0.0)


def _is_endless(query: Any, outer: Any) -> bool:
    """Whether a query of a WITH takes up itself, and nothing else, without a condition that ends
    it."""
    union = query.this
    if not isinstance(union, exp.Union) or union.args.get("distinct"):
        return False
    again = union.expression
    if not isinstance(again, exp.Select) or again.args.get("joins"):
        return False
    limited = any(each.args.get("limit") is not None for each in (union, again))
    if limited or not query.alias or table_of(source_of(again)) != query.alias.lower():
        return False
    where = again.args.get("where")
    if where is not None and picks(where):
        return _bound(where) >= ENORMOUS
    first = isinstance(outer, exp.Select) and outer.args.get("limit") is not None
    return not first or _gathers(outer)


def _gathers(query: exp.Select) -> bool:
    """Whether a query has to see every row before it gives one."""
    gathered = any(each.find(exp.AggFunc) is not None for each in query.expressions)
    return gathered or query.args.get("order") is not None or query.args.get("group") is not None


def _multiplies(query: exp.Select) -> bool:
    """Whether a query joins whole tables without any condition: one with itself, or many; or long
    series."""
    joins = query.args.get("joins")
    if source_of(query) is None or not joins or query.args.get("where") is not None:
        return False
    if any(join.args.get("on") or join.args.get("using") or join.method for join in joins):
        return False
    sources = [source_of(query), *[join.this for join in joins]]
    tables = [each for each in sources if isinstance(each, exp.Table)]
    names = Counter([table_of(each) for each in tables if isinstance(each.this, exp.Identifier)])
    product = 1.0
    for each in tables:
        product *= max(1.0, _size(each.this)) if _is_making(each.this) else 1.0
    return product >= ENORMOUS or max([0, *names.values()]) >= MANY or len(names) > MANY


_SECRET: Final = WORDS["secret tables"]
"""Tables whose rows are passwords and keys, as they are written."""
_LAST: Final = WORDS["last"]
"""The same, whatever schema stands before them."""
_MIXED: Final = listed(
    "mysql.user mysql.db pg_authid pg_shadow sql_logins syslogins system.users pg_subscription"
)
"""Those of them that also say who there is."""
_CREDENTIAL: Final = regex(
    r"(?:.*_)?(?:password|passwd|pwd|passphrase|password_?hash|pass_?hash|pwd_?hash|passwordhash|"
    r"password_digest"
    r"|encrypted_password|hashed_password|password_salt|password_value|rolpassword|"
    r"authentication_string"
    r"|api_?key|api_?secret|secret_?key|private_?key|client_secret|access_token|refresh_token|"
    r"auth_token|session_token"
    r"|(?:totp|mfa|otp)_secret|totp_seed|encrypted_value|spare4|subconninfo|umoptions|bearer_token|"
    r"signing_key|recovery_codes?|card_number|cvv|cvc)"
)
"""Columns that hold what opens something."""
_TELLING: Final = listed(
    "count approxdistinct length is not eq neq case exists in if nullif isnull countif"
)
"""What says something about a value, and does not give it out."""
_NAMING: Final = regex(
    r"(?:.*_)?(?:id|email|e_mail|mail|username|user_name|login|name|key|token|hash|slug|uuid|"
    r"handle)"
)
"""Columns by which one row is asked for."""


def secret_tables(names: Iterable[str], tree: exp.Expr) -> list[str]:
    """The tables that hold passwords and keys, where a statement reads those."""
    held = [name for name in names if name in _SECRET or _last(name) in _LAST]
    return [name for name in held if not {name, _last(name)} & _MIXED or _reads_keys(tree)]


def given_out(query: exp.Expr) -> str:
    """The first column with a password or a key that a query gives out for many; empty where there
    is none."""
    found = next((name for each in query.expressions if (name := _shown(each))), "")
    return "" if not found or _asks_for_one(query) else found


def _is_credential(column: Any) -> bool:
    """Whether the name of a column says that it holds a password or a key."""
    return _CREDENTIAL.fullmatch(column_of(column)) is not None


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _reads_keys(tree: exp.Expr) -> bool:
    """Whether a statement reads whole rows, or a column with passwords or keys."""
    if any(map(_is_credential, tree.find_all(exp.Column))):
        return True
    return any(not isinstance(star.parent, exp.Count) for star in tree.find_all(exp.Star))


def _shown(node: Any) -> str:
    waiting: list[Any] = [node]
    while waiting:
        here = waiting.pop()
        if isinstance(here, exp.Column):
            if _is_credential(here):
                return column_of(here)
        elif here.key not in _TELLING and not isinstance(here, exp.Query):
            waiting += here.iter_expressions()
    return ""


def _asks_for_one(query: exp.Expr) -> bool:
    """Whether a condition names the one whose row it is."""
    where = query.args.get("where")
    if source_of(query) is None:
        return True
    whole = None if where is None else where.this
    parts = whole.flatten() if isinstance(whole, exp.And) else [whole]
    return any(
        isinstance(part, exp.EQ) and _names_one(part.this, part.expression) for part in parts
    )


def _names_one(left: Any, right: Any) -> bool:
    given = value_of(right) is not None or isinstance(right, exp.Placeholder | exp.Parameter)
    return given and (is_key(left, "") or _NAMING.fullmatch(column_of(left)) is not None)

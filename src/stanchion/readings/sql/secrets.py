"""Secrets: which tables and columns hold passwords and keys, and whether a query gives those out
for more than one row."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from sqlglot import exp

from stanchion.kernel.regex import regex
from stanchion.readings.sql import WORDS
from stanchion.readings.sql.rows import column_of, is_key, source_of, value_of
from stanchion.readings.word_lists import listed

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

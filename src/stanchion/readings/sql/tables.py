"""Tables that words name: for statements that are understood by their first words."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.sql import WORDS
from stanchion.readings.sql.lexer import Piece
from stanchion.readings.sql.statement import NAME, Does, Statement
from stanchion.readings.word_lists import listed

_LEADING: Final = listed(
    "INTO TABLE TABLES VIEW INDEX UPDATE TRUNCATE ON COPY DESCRIBE DESC ANALYZE VACUUM"
)
_BETWEEN: Final = listed("IF NOT EXISTS ONLY TABLE CONCURRENTLY FULL VERBOSE")
_NO_TABLE: Final = listed(
    "SELECT WITH VALUES LATERAL UNNEST SET DEFAULT ALL STDIN STDOUT PROGRAM DELETE UPDATE CONFLICT "
    "DUPLICATE"
)


def named_tables(piece: Piece) -> tuple[str, ...]:
    """The tables that a statement names behind words such as TABLE, INTO and ON."""
    return tables_after(piece, *_LEADING)


def tables_after(piece: Piece, *leading: str) -> tuple[str, ...]:
    """The names behind these words, and those behind commas that follow them."""
    words = piece.words
    found: dict[str, None] = {}
    at = 0
    while at < len(words):
        if words[at] not in leading:
            at += 1
            continue
        at += 1
        while at < len(words):
            while at < len(words) and words[at] in _BETWEEN:
                at += 1
            name, at = _name(piece, at)
            if not name:
                break
            found[name] = None
            if at < len(words) and words[at] == "AS":
                at += 1
            if (
                at + 1 < len(words)
                and words[at + 1] == ","
                and (words[at] == NAME or words[at].isidentifier())
            ):
                at += 1
            if at >= len(words) or words[at] != ",":
                break
            at += 1
    return tuple(found)


def _name(piece: Piece, at: int) -> tuple[str, int]:
    """The name that begins here with its schema before it, and where it ends."""
    words = piece.words
    parts: list[str] = []
    while (
        at < len(words)
        and (words[at] == NAME or words[at].isidentifier())
        and words[at] not in _NO_TABLE
    ):
        parts.append(piece.tokens[at].text.lower())
        at += 1
        if at >= len(words) or words[at] != ".":
            break
        at += 1
    return ".".join(parts), at


_SECRET: Final = WORDS["secret tables"]
"""Tables whose rows are passwords and keys, as they are written."""
_LAST: Final = WORDS["last"]
"""The same, whatever schema stands before them."""
_MIXED: Final = listed(
    "mysql.user mysql.db pg_authid pg_shadow sql_logins syslogins system.users pg_subscription"
)
"""Those of them that also say who there is."""
_OWN: Final = regex(
    r"(?:.*\.)?(?:pg_catalog|mysql|sys|information_schema|performance_schema|system|snowflake)"
    r"\.[^.]+"
    r"|pg_(?:class|proc|attribute|authid|auth_members|roles|user|database|trigger|policy|namespace|"
    r"type|index|depend"
    r"|constraint|rewrite|shadow|settings|hba_file_rules)"
    r"|(?:.*\.)?sqlite_(?:master|schema|sequence_master|temp_master)"
)
"""Tables of servers, which nobody changes by rows."""
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


def holds_secrets(name: str) -> bool:
    """Whether a table holds passwords or keys."""
    return name in _SECRET or name.rpartition(".")[2] in _LAST


def holds_more(name: str) -> bool:
    """Whether a table that holds them holds other things as well, such as the names of users."""
    return name in _MIXED or name.rpartition(".")[2] in _MIXED


def is_credential(column: str) -> bool:
    """Whether the name of a column says that it holds a password or a key."""
    return _CREDENTIAL.fullmatch(column) is not None


def is_own(name: str) -> bool:
    """Whether a table is the server's own."""
    return _OWN.fullmatch(name) is not None


def changes_own(one: Statement) -> bool:
    """Whether a statement changes rows of a table that is the server's own: rights, or what tables
    there are."""
    return one.does is Does.WRITE and any(is_own(name) for name in one.writes)

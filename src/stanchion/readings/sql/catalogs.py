"""Catalogs: tables in which a server or a program keeps passwords, keys and rights."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.sql import WORDS
from stanchion.readings.sql.statement import Does, Statement
from stanchion.readings.word_lists import listed

SECRET: Final = "holds passwords or keys"
OWN: Final = "is a table of the server's own"

_SECRET: Final = listed(WORDS["secret tables"])
"""Tables whose rows are passwords and keys, as they are written."""
_LAST: Final = listed(
    """
    pg_authid pg_shadow pg_user_mapping pg_user_mappings sql_logins sysxlogins user$ link$
    global_priv slave_master_info moz_cookies moz_logins decrypted_secrets syslogins
    """
)
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

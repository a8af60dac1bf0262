"""Settings: whether SET and its like change how a session shows things, or what it may do and what
names mean."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.names import names
from stanchion.readings.sql.statement import Does
from stanchion.readings.word_lists import listed

Verdict = tuple[Does, str]

PROTECTING: Final = listed(
    """
    SESSION_REPLICATION_ROLE DEFAULT_TRANSACTION_READ_ONLY TRANSACTION_READ_ONLY ROW_SECURITY
    SQL_LOG_BIN FOREIGN_KEY_CHECKS UNIQUE_CHECKS SQL_SAFE_UPDATES SQL_MODE
    STANDARD_CONFORMING_STRINGS BACKSLASH_QUOTE QUOTED_IDENTIFIER ANSI_QUOTES LOCAL_INFILE
    GENERAL_LOG GENERAL_LOG_FILE LOCAL_PRELOAD_LIBRARIES SESSION_PRELOAD_LIBRARIES
    SHARED_PRELOAD_LIBRARIES DYNAMIC_LIBRARY_PATH ALLOW_SYSTEM_TABLE_MODS SECURE_FILE_PRIV
    ENABLE_EXTERNAL_ACCESS ALLOW_UNSIGNED_EXTENSIONS ALLOW_COMMUNITY_EXTENSIONS DISABLED_FILESYSTEMS
    LOCK_CONFIGURATION CUSTOM_EXTENSION_REPOSITORY ZERO_DAMAGED_PAGES IGNORE_CHECKSUM_FAILURE
    LOG_STATEMENT LOG_MIN_MESSAGES SESSION_AUDIT AUDIT_TRAIL RETENTIONDURATIONCHECK
    EXPIRE_SNAPSHOTS_MIN_RETENTION REMOVE_ORPHAN_FILES_MIN_RETENTION SERVER_AUDIT_LOGGING LOG_BIN
    LOG_MIN_DURATION_STATEMENT LOG_CONNECTIONS SYNCHRONOUS_COMMIT FSYNC FULL_PAGE_WRITES
    ARCHIVE_MODE ARCHIVE_COMMAND
    """
)
"""Settings that protect data or say what is written down, or by which texts are read."""

RIGHTS: Final = listed("ROLE SESSION_AUTHORIZATION PASSWORD SESSION_USER CURRENT_USER")
"""Settings that are who one is."""

SHOWING: Final = names(
    listed(
        """
    STATEMENT_TIMEOUT LOCK_TIMEOUT IDLE_* TIMEZONE TIME_ZONE DATESTYLE INTERVALSTYLE CLIENT_ENCODING
    NAMES EXTRA_FLOAT_DIGITS BYTEA_OUTPUT WORK_MEM ENABLE_*SCAN ENABLE_*JOIN ENABLE_SORT
    ENABLE_HASHAGG RANDOM_PAGE_COST APPLICATION_NAME CLIENT_MIN_MESSAGES JIT* LC_* NLS_*
    MAX_PARALLEL_WORKERS_PER_GATHER CURSOR_TUPLE_FRACTION CHARACTER_SET_* COLLATION_CONNECTION
    CHARSET CHARACTER MAX_EXECUTION_TIME MAX_STATEMENT_TIME SQL_SELECT_LIMIT GROUP_CONCAT_MAX_LEN
    NET_READ_TIMEOUT NET_WRITE_TIMEOUT WAIT_TIMEOUT SQL_BIG_SELECTS PROFILING NOCOUNT ROWCOUNT
    TEXTSIZE LANGUAGE DATEFORMAT DATEFIRST ANSI_NULLS ANSI_WARNINGS ANSI_PADDING ARITHABORT
    CONCAT_NULL_YIELDS_NULL NUMERIC_ROUNDABORT DEADLOCK_PRIORITY SHOWPLAN_* STATISTICS FMTONLY
    NOEXEC PARSEONLY QUERY_TAG STATEMENT_* DATE_*FORMAT TIMESTAMP_*FORMAT TIME_*FORMAT WEEK_*
    THREADS MEMORY_LIMIT MAX_MEMORY PRESERVE_INSERTION_ORDER QUERY_GROUP
    ENABLE_RESULT_CACHE_FOR_SESSION ENABLE_PROGRESS_BAR SEED TRANSACTION_ISOLATION TX_ISOLATION
    """
    )
)
"""Settings by which a session shows things, hurries or waits, and that mean nothing to others."""

SHOWN: Final = 32
"""How long the name of a setting is that a message shows."""

_SCOPES: Final = listed("SESSION LOCAL @@SESSION @@LOCAL")
_WIDE: Final = frozenset({"GLOBAL", "PERSIST", "PERSIST_ONLY"})


def set_by(words: list[str]) -> Verdict:
    """What a SET, or an ALTER SESSION SET, changes: the worst of its settings."""
    behind = words[1:] if words[0] == "SET" else words[3:]
    if "READ" in words and words[words.index("READ") + 1 :][:1] == ["WRITE"]:
        return Does.UPKEEP, "SET TRANSACTION READ WRITE"
    if behind[:1] == ["TRANSACTION"] or behind[:2] == ["SESSION", "CHARACTERISTICS"]:
        return Does.TRANSACTION, "SET TRANSACTION"
    return max([_one(part) for part in _parts(behind)], default=(Does.SESSION, "SET"))


def reset_by(words: list[str]) -> Verdict:
    """What a RESET changes: back to what it was is not always to less."""
    name = words[1] if len(words) > 1 else "ALL"
    if name in ("MASTER", "REPLICA", "SLAVE", "PERSIST", "BINARY") or PROTECTING & set(words):
        return Does.ADMIN, f"RESET {name}"
    if name in RIGHTS or words[1:3] == ["SESSION", "AUTHORIZATION"]:
        return Does.PRIVILEGE, f"RESET {name}"
    return (Does.SESSION if name in SHOWING else Does.UPKEEP), "RESET"


def _parts(words: list[str]) -> list[list[str]]:
    """The settings of one SET: those behind commas have an `=` or a scope of their own."""
    parts: list[list[str]] = [[]]
    depth = 0
    for at, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        after = words[at + 1 : at + 6]
        if (
            word == ","
            and not depth
            and ("=" in after or ":=" in after or {*after[:1]} & (_WIDE | _SCOPES))
        ):
            parts.append([])
        else:
            parts[-1].append(word)
    return [part for part in parts if part]


def _one(words: list[str]) -> Verdict:
    words = [word for word in words if word not in ("@@", ".") and not word.isspace()]
    wide = next((word for word in words[:2] if word.lstrip("@") in _WIDE), "")
    touched = sorted(PROTECTING.intersection([word.lstrip("@") for word in words]))
    if words[:2] == ["SESSION", "AUTHORIZATION"] or words[:2] == ["DEFAULT", "ROLE"]:
        return Does.PRIVILEGE, f"SET {words[0]} {words[1]}"
    if words[0] == "@" or (words[0].startswith("@") and not words[0].startswith("@@")):
        return Does.SESSION, "SET"
    while len(words) > 1 and (words[0] in _SCOPES or words[0].lstrip("@") in _WIDE):
        words = words[1:]
    name = words[0].lstrip("@")
    if name in RIGHTS:
        return Does.PRIVILEGE, f"SET {name}"
    if wide or touched:
        return Does.ADMIN, f"SET {(*touched, wide.lstrip('@'))[0]}"
    if name in SHOWING or words[:2] == ["TIME", "ZONE"] or words[:2] == ["LOCK", "MODE"]:
        return Does.SESSION, "SET"
    return Does.UPKEEP, f"SET {name}" if name.isidentifier() and len(name) < SHOWN else "SET"

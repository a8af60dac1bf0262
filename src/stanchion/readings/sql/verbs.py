"""Verbs: what a statement does that its first words say, whatever follows them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Final

from stanchion.readings.sql import WORDS
from stanchion.readings.sql.settings import reset_by, set_by
from stanchion.readings.sql.statement import NUMBER, TEXT, Does
from stanchion.readings.word_lists import listed

Verdict = tuple[Does, str]
"""What a statement does, and how it is called."""

PARSED: Final = listed("SELECT WITH VALUES TABLE FROM ( INSERT REPLACE UPSERT UPDATE DELETE MERGE")
"""First words of statements that are parsed, because their first words do not say everything."""

WRITING: Final = {
    "INSERT": "INSERT",
    "REPLACE": "REPLACE",
    "UPSERT": "UPSERT",
    "UPDATE": "UPDATE",
    "DELETE": "DELETE",
    "MERGE": "MERGE",
}

_SIMPLE: Final[dict[Does, str]] = {
    Does.READ: "SHOW HELP DESC DESCRIBE FETCH MOVE CLOSE PRINT LIST LS SUMMARIZE PIVOT UNPIVOT",
    Does.TRANSACTION: "END ABORT SAVEPOINT RELEASE",
    Does.SESSION: "DEALLOCATE",
    Does.UPKEEP: """
        ANALYZE ANALYSE REINDEX CLUSTER REFRESH CHECKPOINT OPTIMIZE REPAIR CHECK CHECKSUM FLUSH
        CACHE UNCACHE
        LOCK UNLOCK LISTEN UNLISTEN NOTIFY MSCK HANDLER""",
    Does.CALL: "CALL",
    Does.DDL: "COMMENT UNDROP",
    Does.ADMIN: """
        LOAD ATTACH DETACH BACKUP RESTORE SHUTDOWN RESTART INSTALL UNINSTALL IMPORT EXPORT UNLOAD
        PUT GET REMOVE
        CHANGE STOP BINLOG DBCC RECONFIGURE BULK SYSTEM DUMP CLONE ADD""",
    Does.PRIVILEGE: "GRANT REVOKE DENY REASSIGN SECURITY REVERT",
    Does.DESTRUCTIVE: "TRUNCATE PURGE",
}

SIMPLE: Final = {word: does for does, words in _SIMPLE.items() for word in words.split()}
"""What a first word says by itself."""

OBJECTS: Final = WORDS["objects"]
RIGHTS: Final = listed("USER ROLE LOGIN GROUP POLICY CREDENTIAL PRIVILEGES OWNED PROFILE SHARE")
BEYOND: Final = WORDS["beyond"]
"""What can be made, changed and dropped: things of the schema, things that say who may do what, and
things that reach beyond the database."""

ASKING_PRAGMAS: Final = WORDS["asking pragmas"]
"""Pragmas that only answer, also with something in brackets."""

UNPROTECTED: Final = listed(
    "RECOVERY NOARCHIVELOG FLASHBACK OFFLINE SINGLE_USER TRUSTWORTHY ENCRYPTION DISMOUNT RESETLOGS "
    "DB_CHAINING"
)
"""What is said of a database whose protection, or whose service, is changed."""

UNGUARDED: Final = frozenset(
    {
        ("OWNER", "TO"), ("LEVEL", "SECURITY"), ("DISABLE", "TRIGGER"), ("DISABLE", "RULE"),
        ("NOCHECK", "CONSTRAINT"), ("SYSTEM_VERSIONING", "="), ("NO", "FORCE"),
        ("DISABLE", "CONSTRAINT"), ("SECURITY", "DEFINER"),
    }
)  # fmt: skip
"""Pairs of words by which an ALTER changes who may do what, or takes off what guards a table."""

TUNING_PRAGMAS: Final = WORDS["tuning pragmas"]
"""Pragmas that mean nothing to others."""
KEEPING_PRAGMAS: Final = listed(
    "USER_VERSION APPLICATION_ID WAL_CHECKPOINT INCREMENTAL_VACUUM AUTO_VACUUM SHRINK_MEMORY"
)
"""Pragmas that tidy up, or number a schema."""
_SAFE_VALUES: Final = {
    "JOURNAL_MODE": listed("WAL"),
    "SYNCHRONOUS": listed("NORMAL FULL EXTRA 1 2 3"),
    "FOREIGN_KEYS": listed("ON TRUE YES 1"),
    "SECURE_DELETE": listed("ON TRUE YES 1 FAST"),
    "TRUSTED_SCHEMA": listed("OFF FALSE NO 0"),
}
"""Values of pragmas that protect, with which they do."""

KEPT: Final = listed("NOT DEFAULT IDENTITY EXPRESSION")
"""What an ALTER may drop without dropping data."""

UNTRUSTED: Final = frozenset({"C", "INTERNAL"})
"""Languages of functions that do whatever the server can."""


def first_word(words: list[str]) -> str:
    """The word that a statement begins with; the lexer takes some words together."""
    return words[0].partition(" ")[0]


def said_by(words: list[str]) -> Verdict | None:
    """What the first words of a statement say; nothing where they do not."""
    flat = " ".join(words).split(" ") if any(" " in word for word in words[:12]) else words
    first = flat[0]
    known = SIMPLE.get(first)
    if known is not None:
        return known, " ".join([first, *_object(flat)])
    rule = _RULES.get(first)
    return None if rule is None else rule(flat)


def _object(words: list[str]) -> list[str]:
    return [word for word in words[1:2] if word in OBJECTS | RIGHTS | {"DATA", "TABLES"}]


def _made(words: list[str]) -> tuple[str, int]:
    """What a CREATE, ALTER or DROP is about, and where that word stands."""
    for at, word in enumerate(words[1:14], 1):
        if word in OBJECTS and words[at + 1 : at + 2] == ["LINK"]:
            return "LINK", at + 1
        if word in OBJECTS or word in RIGHTS or word in BEYOND:
            return word, at
    return "", 0


def made_by(words: list[str]) -> str:
    """What a CREATE, ALTER or DROP is about; empty where that is not known."""
    return _made(" ".join(words).split(" "))[0]


def _create(words: list[str]) -> Verdict:
    made, _ = _made(words)
    verb = f"CREATE {made}".strip()
    if made in RIGHTS:
        return Does.PRIVILEGE, verb
    if made == "TABLE" and "EXTERNAL" in words[1:4]:
        return Does.ADMIN, "CREATE EXTERNAL TABLE"
    if made in BEYOND or (made in ("FUNCTION", "PROCEDURE", "AGGREGATE") and _is_untrusted(words)):
        return Does.ADMIN, verb
    servers = made == "TRIGGER" and (("ON", "ALL") in pairwise(words) or "LOGON" in words)
    if servers or words[1:3] == ["EVENT", "TRIGGER"]:
        return Does.ADMIN, "CREATE TRIGGER of the server"
    if made in ("FUNCTION", "PROCEDURE") and _lends_rights(words):
        return Does.PRIVILEGE, f"{verb} with the rights of its owner"
    temporary = not {"TEMP", "TEMPORARY"}.isdisjoint(words[3:5])
    if (
        words[1:3] == ["OR", "REPLACE"]
        and made in ("TABLE", "SCHEMA", "DATABASE")
        and not temporary
    ):
        return Does.DESTRUCTIVE, f"CREATE OR REPLACE {made}"
    return Does.DDL, verb


def _lends_rights(words: list[str]) -> bool:
    """Whether a function runs with its owner's rights, and by names that its caller may give a
    meaning to."""
    pairs = set(pairwise(words))
    return ("SECURITY", "DEFINER") in pairs and ("SET", "SEARCH_PATH") not in pairs


def _is_untrusted(words: list[str]) -> bool:
    if "SONAME" in words:
        return True
    languages = [after for word, after in pairwise(words) if word == "LANGUAGE"]
    return any(
        name in UNTRUSTED or (name.startswith("PL") and name.endswith("U")) for name in languages
    )


def _drop(words: list[str]) -> Verdict:
    made, _ = _made(words)
    verb = f"DROP {made}".strip()
    if words[1:2] == ["PREPARE"]:
        return Does.SESSION, "DROP PREPARE"
    return (Does.PRIVILEGE if made in RIGHTS and made != "OWNED" else Does.DESTRUCTIVE), verb


def _alter(words: list[str]) -> Verdict:
    made, _ = _made(words)
    verb = f"ALTER {made}".strip()
    if words[1:3] == ["SESSION", "SET"]:
        return set_by(words)
    if made in RIGHTS:
        return Does.PRIVILEGE, verb
    if made in BEYOND:
        return Does.ADMIN, verb
    if words[-2:-1] == ["USING"] and words[-1] in (TEXT, NUMBER, "NULL"):
        return Does.DESTRUCTIVE, f"{verb} USING a constant"
    if made == "DATABASE" and not UNPROTECTED.isdisjoint(words):
        return Does.ADMIN, f"{verb} {min(UNPROTECTED.intersection(words))}"
    if (
        words[-3:] == ["ROW", "LEVEL", "SECURITY"]
        and words[-4] in ("ENABLE", "FORCE")
        and words[-5] != "NO"
    ):
        return Does.DDL, f"{verb} {words[-4]} ROW LEVEL SECURITY"
    for before, word, after in zip(words, words[1:], [*words[2:], ""], strict=False):
        if (word == "DROP" and after not in KEPT) or (
            word in ("TRUNCATE", "DELETE", "DISCARD") and before != "ON"
        ):
            return Does.DESTRUCTIVE, f"{verb} {word}"
        if (word, after) in UNGUARDED:
            return Does.PRIVILEGE, f"{verb} {word} {after}"
    return Does.DDL, verb


def _rename(words: list[str]) -> Verdict:
    return (Does.PRIVILEGE, "RENAME USER") if words[1:2] == ["USER"] else (Does.DDL, "RENAME")


_OPENING: Final = listed("TRANSACTION TRAN WORK ISOLATION READ DEFERRED IMMEDIATE EXCLUSIVE NOT")


def _begin(words: list[str]) -> Verdict | None:
    if words[-2:] == ["READ", "WRITE"]:
        return Does.UPKEEP, "BEGIN READ WRITE"
    return (Does.TRANSACTION, "BEGIN") if _OPENING.issuperset(words[1:2]) else None


def _start(words: list[str]) -> Verdict:
    opens = words[1:2] == ["TRANSACTION"]
    if opens and ("READ", "WRITE") in pairwise(words):
        return Does.UPKEEP, "START TRANSACTION READ WRITE"
    return (Does.TRANSACTION, "START TRANSACTION") if opens else (Does.ADMIN, "START")


def _end(words: list[str]) -> Verdict:
    """COMMIT and ROLLBACK; of what was prepared, they end another session's work."""
    prepared = words[1:2] == ["PREPARED"]
    return (Does.UPKEEP, f"{words[0]} PREPARED") if prepared else (Does.TRANSACTION, words[0])


def _xa(words: list[str]) -> Verdict:
    verb = " ".join(["XA", *[word for word in words[1:2] if word.isalpha()]])
    if words[1:2] == ["RECOVER"]:
        return Does.READ, verb
    return (
        Does.TRANSACTION if words[1:2] in (["START"], ["BEGIN"], ["END"]) else Does.UPKEEP
    ), verb


def _use(words: list[str]) -> Verdict:
    rights = words[1:2] in (["ROLE"], ["SECONDARY"])
    return (Does.PRIVILEGE, f"USE {words[1]}") if rights else (Does.SESSION, "USE")


def _discard(words: list[str]) -> Verdict:
    return (Does.UPKEEP, "DISCARD ALL") if words[1:2] == ["ALL"] else (Does.SESSION, "DISCARD")


def _pragma(words: list[str]) -> Verdict:
    name = (
        words[3] if words[2:3] == ["."] and len(words) > 3 else (words[1] if len(words) > 1 else "")
    )
    verb = f"PRAGMA {name}".strip()
    given = (
        [word for word in words[words.index(name) + 1 :] if word not in ("=", "(", ")")]
        if name
        else []
    )
    if name in ASKING_PRAGMAS and "=" not in words:
        return Does.READ, verb
    if name in TUNING_PRAGMAS:
        return Does.SESSION, verb
    if name in _SAFE_VALUES and given and given[0] in _SAFE_VALUES[name]:
        return Does.UPKEEP, verb
    if name in KEEPING_PRAGMAS:
        return (Does.UPKEEP if given or name in _ACTING else Does.READ), verb
    return (Does.READ if not given and name in _SAFE_VALUES else Does.ADMIN), verb


_ACTING: Final = listed("WAL_CHECKPOINT INCREMENTAL_VACUUM SHRINK_MEMORY")
"""Pragmas that do something without a value."""


def _vacuum(words: list[str]) -> Verdict:
    return (Does.ADMIN, "VACUUM INTO") if "INTO" in words else (Does.UPKEEP, "VACUUM")


def _copy(words: list[str]) -> Verdict:
    if "PROGRAM" in words:
        return Does.ADMIN, "COPY PROGRAM"
    if "STDIN" in words and words[1:2] != ["("]:
        return Does.WRITE, "COPY"
    return (Does.READ if "STDOUT" in words else Does.ADMIN), "COPY"


_RULES: Final[dict[str, Callable[[list[str]], Verdict | None]]] = {
    "CREATE": _create,
    "DROP": _drop,
    "ALTER": _alter,
    "RENAME": _rename,
    "BEGIN": _begin,
    "START": _start,
    "COMMIT": _end,
    "ROLLBACK": _end,
    "XA": _xa,
    "SET": set_by,
    "RESET": reset_by,
    "USE": _use,
    "DISCARD": _discard,
    "PRAGMA": _pragma,
    "COPY": _copy,
    "VACUUM": _vacuum,
    "KILL": lambda words: (Does.UPKEEP if words[1:] == ["QUERY", NUMBER] else Does.ADMIN, "KILL"),
}

KNOWN: Final = (
    PARSED
    | set(SIMPLE)
    | set(_RULES)
    | {"EXPLAIN", "PREPARE", "EXECUTE", "EXEC", "DO", "DECLARE", "WAITFOR"}
)
"""Every first word by which a text is known to be SQL."""

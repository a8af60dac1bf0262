"""Places: which arguments of a call are SQL, and what texts its other arguments have."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from stanchion.kernel.regex import regex
from stanchion.readings.commands.words import runner_of
from stanchion.readings.sql import WORDS
from stanchion.readings.sql.statement import (
    BEYOND,
    KNOWN,
    OBJECTS,
    PARSED,
    PRODUCTS,
    RIGHTS,
    TEXT,
    words_of,
)
from stanchion.readings.word_lists import listed

SAYING: Final = listed("sql sql_query sql_text sql_statement sqlquery")
"""Arguments whose names say that they are SQL, whichever tool has them."""

USUAL: Final = listed("query queries sql sqls statement statements stmt script") | SAYING
"""Arguments that are SQL where the tool's name says so."""

SURELY: Final = listed("plsql tsql pgsql sql_code block batch ddl dml q")
"""Arguments that are SQL as well where nothing else is run."""

SURE: Final = PRODUCTS | {"sql"}
TOOLS: Final = SURE | {"db", "database", "databases", "warehouse", "query", "execute", "exec"}
"""Words in the names of tools that run SQL for sure, and of those that may."""

CARRYING: Final = listed(
    "search file files write edit multiedit patch replace notebook document documents"
)
"""Words in the names of tools that look for a text or keep it, and run nothing."""

_FIRST: Final = regex(r"(?:\s|(?:--|#)[^\n]*\n|/\*(?!M?!)(?s:.)*?\*/|[(;])*+([A-Za-z_]+|/\*M?!)")

_PARTNERS: Final = {
    "SELECT": regex(
        r"(?i)\bfrom\b|^\W*select\W*(?:[0-9'\"*@(]|[\w.\"`&\\\[\]]+\s*(?:/\*[^/]*\*/\s*)?\()"
    ),
    "WITH": regex(r"(?i)\bas\s*(?:not\s+materialized\s*|materialized\s*)?\("),
    "UPDATE": regex(r"(?i)\bset\b"),
    "DELETE": regex(r"(?i)\bfrom\b"),
    "INSERT": regex(r"(?i)\b(?:into|overwrite)\b"),
    "SHOW": regex(r"(?i)^\W*show\s+\w+\s*(?:;|$|from|in|like)"),
    "USE": regex(r"(?i)^\W*use\s+\S+\s*;?\s*$"),
}
"""What else a text has that begins with a word of everyday language."""

_THINGS: Final = regex(
    rf"(?i)\b(?:{'|'.join(sorted(OBJECTS | RIGHTS | BEYOND))}|tables|transaction|slave|replica|"
    rf"master|logs)\b"
)
_LATER: Final = regex(
    r"(?i);\s*(?:(?:drop|alter|create|truncate|grant|revoke)\s+\w|delete\s+from\b|insert\s+into\b|"
    r"update\s+\S+\s+set\b)"
)
"""A statement behind something else: some tools go on where the first one fails."""

_CHANGE: Final = regex(
    r"(?i)\b(?:(?:drop|create|alter|truncate)\s+(?:or\s+replace\s+)?(?:table|view|index|database|"
    r"schema|user|role|login"
    r"|procedure|function|trigger|sequence)|delete\s+from|insert\s+into|merge\s+into|"
    r"update\s+\S+\s+set"
    r"|exec(?:ute)?\s+(?:xp_|sp_|\(|as\b|immediate\b))"
)
"""Words that change something, wherever they stand."""
_BLOCK: Final = regex(r"(?i)\W*(?:if|while|begin|declare|label|delimiter|go|use|print)\b")
"""How texts begin in which a statement may stand further on."""
_SENTENCE: Final = regex(r"\s*[\w\"'(][^;=@$#\\`|{}\[\]<>:*]*")
"""How a sentence is written."""
_WORD: Final = regex(r"[A-Za-z_]+")

_ALSO: Final = {
    **dict.fromkeys(("DROP", "CREATE", "ALTER"), _THINGS),
    **dict.fromkeys(("GRANT", "REVOKE", "DENY"), regex(r"(?i)\b(?:on|to|from)\b")),
    "TRUNCATE": regex(
        r"(?i)^\W*truncate\s+(?:table\s+)?[\w.\"`\[\]]+\s*(?:[,;]|$|cascade|restart)"
    ),
    "EXPLAIN": regex(r"(?i)\b(?:select|insert|update|delete|merge|replace|with|values)\b"),
}
_ANY: Final = regex(rf"[\"'`=;(@$0-9]|^\W*\w+\W*$|{_THINGS.pattern[4:]}", re.IGNORECASE)
"""The same for a tool that may run something else, too."""

TELLING: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(("DROP", "CREATE", "ALTER"), OBJECTS | RIGHTS | BEYOND),
    "SET": listed("ROLE SESSION GLOBAL PERSIST LOCAL SESSION_AUTHORIZATION"),
    "RESET": listed("ROLE SESSION ALL MASTER"),
    "BULK": listed("INSERT"),
    "DO": listed(f"{TEXT} LANGUAGE"),
    "ATTACH": listed(f"{TEXT} DATABASE"),
    "EXECUTE": listed("IMMEDIATE AS"),
    **dict.fromkeys(("BACKUP", "RESTORE"), listed("DATABASE LOG")),
    "GRANT": listed("ON TO"),
    "REVOKE": listed("ON FROM"),
    "COPY": listed("STDIN STDOUT PROGRAM"),
    "MERGE": listed("INTO"),
    "REASSIGN": listed("OWNED"),
    "LOAD": listed("INFILE INPATH EXTENSION"),
    **dict.fromkeys(("TRUNCATE", "EXEC", "PRAGMA", "VACUUM", "REINDEX", "DETACH"), listed("")),
}
"""What follows a first word where only SQL does so, for what the parser does not know; nothing
where the first word tells it."""
ANYWHERE: Final = listed("GRANT REVOKE COPY MERGE REASSIGN LOAD")
"""First words behind which it may stand further on."""

WRITTEN: Final = regex(r"[\"'`;=(@$_\[]|\w\.\w|^\W*(?:[A-Z]{4,}\s|[A-Z]{3,}\s+[A-Z]{2,}\b)")
"""How SQL is written and sentences are not: quotes, signs, underscores, dotted names, or its words
in capitals."""

CAPITALS: Final = ("SELECT ", "SELECT\n", "VALUES", "WITH ", "TABLE ")
"""How a query begins that reads no table: in small letters it may be a sentence."""
_BY_SECOND: Final = listed("SELECT WITH UPDATE DELETE INSERT CREATE DROP ALTER GRANT REVOKE")
"""First words with which sentences begin, too: what else such a statement has tells."""
_RARE: Final = regex(r"(?i)\b(?:pool|sink|source|streamlit|tag|format|key)\b")
"""What else the parser knows to be made and dropped."""
_PROGRAM: Final = regex(r"(?i)\s*truncate\s+-[a-z]")
"""A program of that name, with an option."""


@lru_cache(1024)
def runs_sql(tool: str) -> bool:
    """Whether a tool's name says that it may run SQL, and no other language."""
    may = not TOOLS.isdisjoint(words_of(tool)) and not runner_of(tool).language
    return may or surely_runs_sql(tool)


@lru_cache(1024)
def runs_cells(tool: str) -> bool:
    """Whether a tool's name says that it runs cells of a notebook."""
    words = words_of(tool)
    return "cell" in words or (
        "notebook" in words and not {"run", "execute", "exec"}.isdisjoint(words)
    )


@lru_cache(1024)
def carries_texts(tool: str) -> bool:
    """Whether a tool's name says that it looks for texts or keeps them, and nothing says that it
    runs them."""
    return not CARRYING.isdisjoint(words_of(tool)) and not runs_sql(tool)


@lru_cache(1024)
def surely_runs_sql(tool: str) -> bool:
    """Whether a tool's name leaves no doubt."""
    return not SURE.isdisjoint(words_of(tool)) or tool.lower() in PRODUCTS


def looks_like_sql(text: str, surely: bool) -> bool:
    """Whether a text begins as SQL does, or has a statement further on: what databases would refuse
    to read is not meant for one. Given to a tool that surely runs SQL, a text is none only where it
    is a sentence: it does not begin with a word of SQL, nor with one in capitals, and is written as
    sentences are. Given to one that may run it, a text that begins with a word of SQL in capitals
    is SQL, and one that changes something further on."""
    if surely:
        return bool(text.strip()) and not _is_sentence(text)
    changes = _CHANGE.search(text)
    if begins_as_sql(text, surely) or _LATER.search(text) is not None:
        return True
    if begins_with_verb(text):
        return changes is not None or _begins_in_capitals(text)
    return changes is not None and (changes[0].isupper() or _BLOCK.match(text) is not None)


def _is_sentence(text: str) -> bool:
    if begins_with_verb(text) or _begins_in_capitals(text) or _SENTENCE.fullmatch(text) is None:
        return False
    if _CHANGE.search(text) is not None or _LATER.search(text) is not None:
        return False
    return _BLOCK.match(text) is None or WORDS["changing"].isdisjoint(
        [word.upper() for word in _WORD.findall(text)]
    )


def begins_as_sql(text: str, surely: bool = True) -> bool:
    """Whether a text begins as SQL does. Where it may be meant for something else than a database,
    it also has to have what such a statement has."""
    word = first_word(text)
    if word.startswith(("/*", "SP_", "XP_")):
        return True
    partner = _PARTNERS.get(word)
    if partner is None and not surely:
        partner = _ALSO.get(word, _ANY)
    return word in KNOWN and (partner is None or partner.search(text) is not None)


def may_be_sql(text: str) -> bool:
    """Whether the parser has to decide about a text. It is not even loaded for one that cannot be
    SQL by its first word, or by what is missing behind it."""
    first = first_word(text)
    if first not in KNOWN or _PROGRAM.match(text) is not None:
        return False
    if first in _BY_SECOND:
        capitals = text.lstrip(" (").startswith(CAPITALS)
        return begins_as_sql(text, False) or capitals or _RARE.search(text) is not None
    if first in PARSED or first in ("COPY", "TRUNCATE") or "select" in text.lower():
        return True
    return first in TELLING and WRITTEN.search(text) is not None


def first_word(text: str) -> str:
    """The word that a text begins with, behind comments and brackets, in capitals."""
    first = _FIRST.match(text)
    return "" if first is None else first[1].upper()


def begins_with_verb(text: str) -> bool:
    """Whether a text begins with a word that statements begin with."""
    return first_word(text) in KNOWN


def _begins_in_capitals(text: str) -> bool:
    first = _FIRST.match(text)
    return first is not None and len(first[1]) > 3 and first[1].isupper()


def values_named(args: dict[str, Any], wanted: frozenset[str]) -> list[str]:
    """The texts of these names, at any depth; a list of them gives its items one by one."""
    found: list[str] = []
    waiting: list[tuple[bool, Any]] = [(False, args)]
    while waiting:
        named, value = waiting.pop()
        if isinstance(value, str):
            found += [value] if named else []
        elif isinstance(value, list):
            waiting += [(named, inner) for inner in reversed(value)]
        elif isinstance(value, dict):
            waiting += [
                (key.lower() in wanted or (named and key == "text"), inner)
                for key, inner in reversed(value.items())
            ]
    return found

"""Statements: what one does, the words by which it says it, and dialects."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextvars import ContextVar
from enum import IntEnum
from functools import lru_cache
from pkgutil import get_data
from typing import Final, Literal, NamedTuple, get_args

import msgspec

from stanchion.kernel.regex import regex
from stanchion.readings.sql import WORDS
from stanchion.readings.word_lists import Strings, listed

TEXT: Final = "'"
NAME: Final = '"'
NUMBER: Final = "0"
"""How a string, a quoted name and a number are written among words."""

PARSING: Final = ContextVar("parsing", default=False)
"""Whether a text is being parsed here: what the parser then logs has the text in it."""


REMEMBERED_CHARS: Final = 4_096
"""Longer texts are read anew each time, so that what is remembered stays small."""

SECRET: Final = "holds passwords or keys"
CHANGES: Final = "changes the state of the server"


class Does(IntEnum):
    """What a statement does, ordered by severity."""

    READ = 0
    TRANSACTION = 1
    SESSION = 2
    UPKEEP = 3
    CALL = 4
    WRITE = 5
    DDL = 6
    ADMIN = 7
    PRIVILEGE = 8
    DESTRUCTIVE = 9
    UNKNOWN = 10


HARMLESS: Final = frozenset({Does.READ, Does.TRANSACTION, Does.SESSION})
"""What changes nothing that others see."""


class Effect(NamedTuple):
    """A function that does more than compute, and what it does besides."""

    name: str
    what: str


class Statement(msgspec.Struct, frozen=True):
    """One statement of a text.

    `verb` is how it is called in messages. `reads` and `writes` are tables by the names the text
    has for them, in small letters. `bounded` is false where an UPDATE or DELETE picks no rows.
    `calls` are all functions and procedures that it calls, `effects` those that do more than
    compute, `unknown` those of which nobody knows. `secrets` are tables and columns with passwords
    and keys that it gives out. `why` says why it is unclear, and is empty where it is not.
    """

    does: Does
    verb: str
    at: int = 1
    reads: Strings = ()
    writes: Strings = ()
    bounded: bool = True
    calls: Strings = ()
    effects: tuple[Effect, ...] = ()
    unknown: Strings = ()
    secrets: Strings = ()
    why: str = ""


def unclear(why: str, verb: str = "?") -> tuple[Statement, ...]:
    """A text that is unclear as a whole."""
    return (Statement(Does.UNKNOWN, verb, why=why),)


def severity(statements: tuple[Statement, ...]) -> tuple[int, bool, int, int]:
    """By this the worst of several readings of one text is chosen."""
    worst = max([statement.does for statement in statements], default=Does.READ)
    return (
        worst,
        not all(statement.bounded for statement in statements),
        sum([len(statement.effects) for statement in statements]),
        len(statements),
    )


DialectName = Literal[
    "bigquery", "clickhouse", "databricks", "duckdb", "hive", "mysql", "oracle", "postgres",
    "presto", "redshift", "snowflake", "spark", "sqlite", "trino", "tsql"
]  # fmt: skip

DIALECTS: Final[tuple[DialectName, ...]] = get_args(DialectName)

TRIED: Final[tuple[DialectName, ...]] = ("postgres", "mysql", "sqlite", "tsql")
"""What a text is read as where its dialect is not known."""

RARER: Final[tuple[DialectName, ...]] = ("bigquery", "snowflake", "duckdb", "oracle")
"""What it is read as besides, where none of those can read it."""

HASH: Final = listed("mysql bigquery clickhouse")
SLASHES: Final = frozenset({"snowflake"})
"""Dialects that also begin a comment like this."""

NESTING: Final = listed("postgres redshift tsql duckdb")
FLAT: Final = listed("mysql sqlite oracle snowflake bigquery trino presto")
"""Dialects in which comments stand in each other, and those in which they do not. Of others nobody
knows."""

_SAID: Final[dict[str, DialectName]] = {
    **{name: name for name in DIALECTS},
    "bq": "bigquery",
    "mariadb": "mysql",
    **dict.fromkeys(("pg", "postgresql", "psql", "supabase"), "postgres"),
    "sqlite3": "sqlite",
    "athena": "trino",
    **dict.fromkeys(("mssql", "sqlserver"), "tsql"),
}
"""Words in the names of tools, and the dialects that they say."""
PRODUCTS: Final = frozenset(_SAID)

_WORD: Final = regex(
    r"(?i:postgresql|postgres|mysql|mariadb|bigquery|sqlite|duckdb|clickhouse|sqlserver)|"
    r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+[0-9]?|[0-9]+"
)


@lru_cache(1024)
def words_of(name: str) -> Strings:
    """The words of a tool's name, in small letters: `runSqlQuery` and `run_sql_query` have the
    same."""
    return tuple([word.lower() for word in _WORD.findall(name[:200])])


@lru_cache(1024)
def dialect_said_by(tool: str) -> DialectName | None:
    """The dialect that a tool's name says, if it says exactly one."""
    said = {_SAID[word] for word in (*words_of(tool), tool.lower()) if word in _SAID}
    return said.pop() if len(said) == 1 else None


_BEGINNINGS: Final[dict[DialectName, re.Pattern[str]]] = {
    "tsql": regex(
        r"(?i)\s*(?:declare\s+@|begin\s+(?:try|tran)\b|if\s+(?:not\s+)?(?:exists\s*\(|"
        r"object_id\s*\()|if\s+@|set\s+(?:nocount|xact_abort|identity_insert)\b|"
        r"exec\s+(?:sys\.)?sp_|create\s+table\s+#\w)"
    ),
    "postgres": regex(
        r"(?i)\s*(?:do\s+\$|create\s+(?:or\s+replace\s+)?(?:function|procedure)\b[^'\"`#]*?"
        r"\b(?:returns\s+(?:trigger|void|setof)\b|as\s+\$))"
    ),
}


def dialect_begun_by(text: str) -> DialectName | None:
    """The dialect that a text is in by how its first statement begins: no other server gets beyond
    that."""
    return next((dialect for dialect, begins in _BEGINNINGS.items() if begins.match(text)), None)


Verdict = tuple[Does, str]
"""What a statement does, and how it is called."""

PARSED: Final = listed("SELECT WITH VALUES TABLE FROM ( INSERT REPLACE UPSERT UPDATE DELETE MERGE")
"""First words of statements that are parsed, because their first words do not say everything."""
WRITING: Final = listed("INSERT REPLACE UPSERT UPDATE DELETE MERGE")
SIMPLE: Final = {word: does for does in Does for word in WORDS.get(f"say {does.name}", ())}
"""What a first word says by itself."""

OBJECTS: Final = WORDS["objects"]
RIGHTS: Final = WORDS["rights"]
BEYOND: Final = WORDS["beyond"]
"""What can be made, changed and dropped: things of the schema, things that say who may do what, and
things that reach beyond the database."""
_KINDS: Final = {
    **dict.fromkeys(OBJECTS, "thing"),
    **dict.fromkeys(RIGHTS, "right"),
    **dict.fromkeys(BEYOND, "beyond"),
}
_CHANGING: Final = WORDS["changing"]
_SCOPES: Final = listed("SESSION LOCAL @@SESSION @@LOCAL GLOBAL PERSIST PERSIST_ONLY")
_PLACE: Final = regex(r"\{([a-z ]+)\}")


class VerbRule(NamedTuple):
    """What a statement does, and how it is called, where an expression matches what is behind its
    first word."""

    does: Does
    matches: re.Pattern[str]
    verb: str


def _rules(table: str) -> Iterator[tuple[str, list[VerbRule]]]:
    """The rules of a table, by the first words they are for."""
    head, *parts = re.split(r"(?m)^\[(.+)\]\n", table)
    named = dict(re.findall(r"(?m)^(\w+) := (.*)$", head))
    for firsts, body in zip(parts[::2], parts[1::2], strict=True):
        rules = []
        for line in body.splitlines():
            if line and not line.startswith("#"):
                does, _, rest = line.partition(" ")
                pattern, _, verb = rest.strip().partition(" => ")
                whole = _PLACE.sub(lambda found: _meant(found[1], named), pattern)
                rules.append(VerbRule(Does[does], regex(rf"(?:{whole})(?!\S)"), verb))
        yield from [(first, rules) for first in firsts.split()]


def _meant(name: str, named: dict[str, str]) -> str:
    """What a name in braces stands for."""
    words = "" if name in named else "|".join(sorted(WORDS[name])).replace("*", r"\S*")
    return named.get(name, words)


_TABLE: Final = get_data("stanchion.readings.sql", "verbs.txt")
_RULES: Final = dict(_rules("" if _TABLE is None else _TABLE.decode()))

KNOWN: Final = (
    PARSED
    | set(SIMPLE)
    | (set(_RULES) - {"setting"})
    | listed("EXPLAIN PREPARE EXECUTE EXEC DO DECLARE WAITFOR")
)
"""Every first word by which a text is known to be SQL."""


def first_word(words: list[str]) -> str:
    """The word that a statement begins with; the lexer takes some words together."""
    return words[0].partition(" ")[0]


def said_by(words: list[str]) -> Verdict | None:
    """What the first words of a statement say; nothing where they do not."""
    flat = " ".join(words).split()
    first, behind = flat[0], flat[1:]
    known = SIMPLE.get(first)
    if known is not None:
        said = OBJECTS | RIGHTS | {"DATA", "TABLES"}
        return known, " ".join([first, *[word for word in behind[:1] if word in said]])
    if first not in _RULES:
        return None
    if first == "ALTER" and behind[:2] == ["SESSION", "SET"]:
        first, behind = "SET", behind[2:]
    if first == "SET":
        whole = _said(first, first, " ".join(behind))
        return whole if whole is not None else _set_by(behind)
    if first not in ("CREATE", "ALTER", "DROP"):
        return _said(first, first, " ".join(behind))
    made = _join_create(flat)
    verb = f"{first} {made}".strip()
    return _said(first, verb, " ".join([_KINDS.get(made, "other"), made if made else "?", *behind]))


def _said(rules: str, verb: str, text: str) -> Verdict | None:
    """What the first rule says that matches; nothing where none does."""
    for does, matches, template in _RULES[rules]:
        found = matches.match(text)
        if found is not None:
            return does, found.expand(template.replace("%", verb)) if template else verb
    return None


def _set_by(words: list[str]) -> Verdict:
    """What a SET changes: the worst of its settings. Those behind commas have an `=` or a scope of
    their own."""
    parts: list[list[str]] = [[]]
    depth = 0
    for at, word in enumerate(words):
        depth += (word == "(") - (word == ")")
        after = words[at + 1 : at + 6]
        if word == "," and not depth and ({"=", ":="} & {*after} or _SCOPES & {*after[:1]}):
            parts.append([])
        elif word not in ("@@", "."):
            parts[-1].append(word)
    found = [_said("setting", "SET", " ".join(part)) for part in parts if part]
    return max([each for each in found if each is not None], default=(Does.SESSION, "SET"))


def _join_create(words: list[str]) -> str:
    for at, word in enumerate(words[1:14], 1):
        if word in OBJECTS and words[at + 1 : at + 2] == ["LINK"]:
            return "LINK"
        if word in _KINDS:
            return word
    return ""


def made_by(words: list[str]) -> str:
    """What a CREATE, ALTER or DROP is about; empty where that is not known."""
    return _join_create(" ".join(words).split(" "))


def changing_words(words: list[str]) -> list[str]:
    """The words of a statement, behind the first, that change something where they are not a name,
    a function or part of a lock."""
    return [
        word
        for before, word, after in zip(words, words[1:], [*words[2:], ""], strict=False)
        if word in _CHANGING
        and after not in ("(", ".")
        and before not in (".", "FOR", "KEY", "AS", "ON")
        and not (word == "INTO" and after == "@")
    ]

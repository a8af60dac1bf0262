"""Clients: the SQL that a command or a piece of code gives to a database."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, NamedTuple

from stanchion.kernel.regex import may_stand, regex
from stanchion.kernel.sizes import ReadLimits
from stanchion.readings.programs.python import read_python
from stanchion.readings.shell.analysis import analysed
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.known import GivenCode, by_name
from stanchion.readings.shell.partly_known import OpenText
from stanchion.readings.word_lists import listed

MANY: Final = 32
"""How many texts of one command are read."""


class ClientText(NamedTuple):
    """A text that a database is given, and its dialect where that is known."""

    text: str
    dialect: str | None


CLIENTS: Final[dict[str, GivenCode]] = by_name("sql", lambda code: code)
"""Programs that run SQL: in which dialect, behind which options, and whether an operand is SQL."""

_NAMES: Final = rf"(?i)\b(?:{'|'.join(sorted(CLIENTS))})\b"
_CODE: Final = regex(
    r"\.(?:execute|executemany|executescript|exec_driver_sql|sql|query|read_sql\w*|delete)\(|"
    r"\btext\("
)
_RUNS: Final = listed(
    "execute executemany executescript exec_driver_sql sql query text read_sql read_sql_query"
)
_MODULES: Final = {
    "sqlite3": "sqlite", "psycopg": "postgres", "asyncpg": "postgres", "pg8000": "postgres",
    "pymysql": "mysql", "mysql": "mysql", "MySQLdb": "mysql", "pyodbc": "tsql", "pymssql": "tsql",
    "oracledb": "oracle", "duckdb": "duckdb", "snowflake": "snowflake", "clickhouse": "clickhouse",
    "bigquery": "bigquery", "spark": "databricks",
}  # fmt: skip
_OPENED: Final = regex(r"\b(?:connect|create_engine|create_async_engine)\(([^()]*)")
_PASSING: Final = regex(
    r":memory:|\btmp|\btemp|sqlite://[\"']|get_connection_url|"
    r"(?:\b|_)(?:dev|test)(?:_\w+)?\.(?:db|sqlite3?)\b"
)
"""Signs of a database that goes with the code that opens it, or is a file for tests."""
_OF_TESTS: Final = regex(
    r"(?i)(?:://(?:[^@/\s]*@)?(?:localhost|127\.0\.0\.1)(?::\d+)?/"
    r"|(?:-h ?|--host[= ])(?:localhost|127\.0\.0\.1) (?:[^|;&'\"]* )?(?<!-[uUpW] ))"
    r"\w*(?<![a-z])(?:test|tmp|scratch)(?![a-z])"
)
"""The address of a database on this host that tests make anew."""
_UNKNOWN: Final = regex(r"%\(\w+\)s|%s|\$\{\w+\}|\$[A-Za-z_]\w*|\$\([^()]*\)|\$(?![\w$'])")
_MAGIC: Final = regex(r"\s*%{1,2}(?:sql|bigquery|spark\.sql|sparksql)\b[^\n]*\n(?s:(.*))")
_LINES: Final = regex(r"(?m)^\s*%sql\s+(.+)$")
_SET: Final = regex(r"(?m)^\s*\\set\s+(\w+)\s+'((?:[^']|'')*)'[^\n]*\n?")
_EXECUTED: Final = regex(r"(?is)\bselect\s+((?:(?!;|\bfrom\b).)+)\s+from\b[^;]*?\\gexec")
_OF_CLIENT: Final = regex(r"(?i)\s*(?:[.\\]|GO\s*$|DELIMITER\s)")
"""Lines that are for the client, and no SQL."""
_DRY: Final = listed("--dry_run --dry-run --dry_run=true")


def may_reach_database(text: str) -> bool:
    """Whether a command or a piece of code may give SQL to a database; a quick look."""
    return may_stand(text, _NAMES, _CODE.pattern)


def given_by(text: Any, limits: ReadLimits) -> tuple[ClientText, ...]:
    """What a shell text, or the words of one command, gives to databases."""
    whole = " ".join(text) if isinstance(text, tuple) else str(text)
    return _given(text, limits) if may_reach_database(whole) else ()


@lru_cache(256)
def _given(text: Any, limits: ReadLimits) -> tuple[ClientText, ...]:
    if isinstance(text, tuple) and text[0].startswith("python") and len(text) == 3:
        return given_by_code(text[2])
    found: list[ClientText] = []
    code: list[ClientText] = []
    for command in analysed(text, limits).commands:
        if _OF_TESTS.search(command.line) is None:
            found += _of_command(command)
        if command.name.startswith("python") and "-c" in command.argv[:-1]:
            code += given_by_code(command.argv[command.argv.index("-c") + 1])
    return tuple(dict.fromkeys([*found, *code]))[:MANY]


def given_by_code(code: str) -> tuple[ClientText, ...]:
    """What a notebook's cell or a piece of Python gives to a database, as one text."""
    cell = _MAGIC.match(code)
    if cell is not None:
        return (ClientText(cell[1], None),)
    found = [ClientText(line[1], None) for line in _LINES.finditer(code)]
    read = read_python(code) if _CODE.search(code) is not None and not _only_passing(code) else None
    if read is None:
        return tuple(found)
    dialect = next((dialect for module, dialect in _MODULES.items() if module in code), None)
    texts = [call.args[0] for call in read.calls if call.name in _RUNS and call.args]
    for call in read.calls:
        if call.name == "delete" and call.of.endswith(("objects.all", ".query")):
            found.append(
                ClientText("DELETE FROM x", None)
            )  # a mapper's, called on all rows of a table
    plain = [
        ClientText(_plain(each), dialect) for each in texts if each is not None and " " in each
    ]
    return (*found, *plain[:MANY])


def _only_passing(code: str) -> bool:
    """Whether each database that code opens is gone when it ends."""
    opened = _OPENED.findall(code)
    return bool(opened) and all(_PASSING.search(each) is not None for each in opened)


def _of_command(command: Command) -> Iterator[ClientText]:
    client = CLIENTS.get(command.name)
    if client is None or not _DRY.isdisjoint(command.argv):
        return
    given = command.given
    typed = [given] if given is not None and not isinstance(given, OpenText) else []
    for text in (*typed, *_values(command.argv, client)):
        yield from _typed(text, client.dialect if client.dialect else None)


def _values(words: tuple[str, ...], client: GivenCode) -> Iterator[str]:
    """The values of a client's options that are SQL, and the words that are."""
    options = client.behind.split()
    for before, word in pairwise(words):
        name, _, value = word.partition("=")
        if before in options:
            yield word
        elif word != name and name.startswith("--") and name in options:
            yield value
        elif " " in word and word[:2] in options:
            yield word[2:]
        elif client.operands and " " in word and not word.startswith("-"):
            yield word


def _typed(text: str, dialect: str | None) -> Iterator[ClientText]:
    """A text as a client takes it: its variables are put in, and what it runs of what it selects is
    run. Lines that are for the client are left out."""
    text = text.strip().removeprefix("@").removesuffix("@")
    known = dict(_SET.findall(text))
    text = _SET.sub("", text)
    for name, value in known.items():
        text = text.replace(f":{name}", value.replace("''", "'"))
    for made in _EXECUTED.findall(text):
        yield ClientText(f"EXECUTE IMMEDIATE {made}", dialect)
    lines = [line for line in text.splitlines() if _OF_CLIENT.match(line) is None]
    yield ClientText(_plain("\n".join(lines)), dialect)


def _plain(text: str) -> str:
    """A text with a name for what is not known of it."""
    return _UNKNOWN.sub("x", text)

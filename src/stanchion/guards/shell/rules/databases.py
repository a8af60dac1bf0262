"""Databases: statements that drop, empty or hand over what a database holds."""

from __future__ import annotations

from typing import Final

from stanchion.guards.shell.places import Roots
from stanchion.guards.shell.rule import asked
from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.partly_known import Open

_COMMENT: Final = regex(r"/\*[^*]*(?:\*(?!/)[^*]*)*\*/|--[^\n]*")
_TEXT: Final = regex(r"'[^']*'")
_DESTROYS: Final = regex(
    r"^(?:drop\s+(?:table|database|schema|index|view|user|role|collection|keyspace|type|function|"
    r"trigger|tablespace)"
    r"|truncate\s+[\w.]|grant\s+all|revoke\b|alter\s+table\s+\S+\s+drop|alter\s+user|"
    r"reset\s+master|purge\s+binary|"
    r"flushall|flushdb|shutdown)",
)
_UNBOUNDED: Final = regex(
    r"^(?:delete\s+from|update\s+\S+\s+set|alter\s+table\s+\S+(?:\s+on\s+cluster\s+\S+)"
    r"?\s+(?:delete|update))\b"
)
_ALWAYS: Final = regex(r"\bwhere\s+(?:1|true|1\s*=\s*1|not\s+false)(?:\s+settings\b|\s*$)")
"""A condition that holds for every row."""


def destroys(text: str) -> bool:
    """Whether one of the statements drops, truncates, changes rights, or deletes or updates without
    a condition."""
    plain = _TEXT.sub("''", _COMMENT.sub(" ", text[:65_536])).lower()
    for statement in plain.split(";"):
        words = " ".join(statement.split())
        if words.startswith("with ") and " delete from " in words:
            return True
        if _DESTROYS.match(words):
            return True
        if _UNBOUNDED.match(words) and (" where " not in f"{words} " or _ALWAYS.search(words)):
            return True
    return False


CLIENTS: Final = (
    "mysql mariadb psql sqlite3 sqlcmd clickhouse-client clickhouse cqlsh cockroach bq snowsql "
    "duckdb mssql-cli pgcli mycli usql isql sqlplus"
)


@asked
def statement(command: Command, _roots: Roots) -> bool:
    given = (
        [command.given] if command.given is not None and not isinstance(command.given, Open) else []
    )
    return any(destroys(text) for text in (*command.argv[1:], *given))


@asked
def typed(command: Command, _roots: Roots) -> bool:
    return len(command.argv) > 2 and destroys(" ".join(command.argv))


@asked
def mongo(command: Command, _roots: Roots) -> bool:
    texts = (*command.argv[1:], command.given if command.given is not None else "")
    marks = (
        "dropDatabase(",
        ".drop(",
        "deleteMany({})",
        ".remove({})",
        "dropUser(",
        "shutdownServer(",
        "dropIndexes(",
        "dropAllUsers",
    )
    return any(mark in text for text in texts for mark in marks)


@asked
def accepts_loss(command: Command, _roots: Roots) -> bool:
    """Whether an option says that data may go: `--accept-data-loss`, `--force-reset`,
    `--delete-data`."""
    return any(_LOSES.fullmatch(flag) is not None for flag in command.flags)


@asked
def graph(command: Command, _roots: Roots) -> bool:
    """Whether a statement deletes every node or edge of a graph."""
    given = (
        [command.given] if command.given is not None and not isinstance(command.given, Open) else []
    )
    return any(
        _EVERY_NODE.search(text) is not None and " where " not in text.lower()
        for text in (*command.argv, *given)
    )


@asked
def redis(command: Command, _roots: Roots) -> bool:
    words = [
        *command.operands,
        *(
            command.given.split()
            if command.given is not None and not isinstance(command.given, Open)
            else []
        ),
    ]
    low = [word.lower() for word in words]
    if low[:1] in (["eval"], ["eval_ro"]):
        return any(
            each in low[1]
            for each in ("'del'", "'unlink'", "'flush", '"del"', '"unlink"', '"flush')
        )
    return any(word in ("flushall", "flushdb", "shutdown", "debug") for word in low[:4]) or low[
        :2
    ] in (
        ["config", "set"],
        ["config", "resetstat"],
        ["script", "flush"],
        ["cluster", "reset"],
    )


_LOSES: Final = regex(
    r"--(?:accept|allow|force|confirm)-(?:data-?loss|(?:db-|database-)?reset)"
    r"|--(?:delete|drop|destroy|erase|purge|wipe|remove)-(?:all-)?(?:data|database|db)"
)
_EVERY_NODE: Final = regex(r"(?i)\bmatch\s*\(\s*\w*\s*\)[^;]*?\bdelete\b")

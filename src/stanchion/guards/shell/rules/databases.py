"""Databases: statements that drop, empty or hand over what a database holds."""

from __future__ import annotations

from typing import Final

from stanchion.guards.shell.rule import CHECKS
from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.partly_known import Open

_COMMENT: Final = regex(r"/\*[^*]*(?:\*(?!/)[^*]*)*\*/|--[^\n]*")
_TEXT: Final = regex(r"'[^']*'")
_DESTROYS: Final = regex(
    r"^(?:drop\s+(?:(?:materialized\s+)?view|table|database|schema|index|user|role|owned|"
    r"collection|keyspace|type|function|trigger|tablespace|sequence|extension|procedure|event|domain|policy|"
    r"measurement|bucket|series|retention|warehouse|partition|publication|subscription|server|"
    r"column|constraint|dictionary|login)\b"
    r"|truncate\s+[^-\s(]|grant\s+all|revoke\b|alter\s+table\s+\S+\s+drop|alter\s+user"
    r"|reset\s+master|purge\s+binary|flushall|flushdb|shutdown|alter\s+system\s+set|set\s+password"
    r"|(?:create|alter)\s+(?:role|user|login)\s[^;]*\b(?:superuser|createrole|bypassrls|sysadmin)\b"
    r"|.*\b(?:pg_shadow|pg_authid|authentication_string|lo_export|pg_read_file|xp_cmdshell|"
    r"load_file|(?:into\s+(?:out|dump)file|from\s+program))\b)",
)
_UNBOUNDED: Final = regex(
    r"^(?:delete\s+from|update\s+\S+\s+set|alter\s+table\s+\S+(?:\s+on\s+cluster\s+\S+)"
    r"?\s+(?:delete|update))\b"
)
_ALWAYS: Final = regex(
    r"\bwhere\s+(?:1|true|(\S{1,40}?)\s*=\s*\1|not\s+false|\w*id\s*(?:>=?\s*0|is\s+not\s+null))"
    r"(?:\s+settings\b|\s*$)"
)
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


def _texts(command: Command) -> tuple[str, ...]:
    """What a client is given to run: its words, and its input where that is known."""
    given = command.given
    return (*command.argv[1:], "" if given is None or isinstance(given, Open) else given)


_LOSES: Final = regex(
    r"--(?:accept|allow|force|confirm)-(?:data-?loss|(?:db-|database-)?reset)"
    r"|--(?:delete|drop|destroy|erase|purge|wipe|remove)-(?:all-)?(?:data|database|db)"
)
_EVERY_NODE: Final = regex(r"(?i)\bmatch\s*\(\s*\w*\s*\)[^;]*?\bdelete\b")


CHECKS.update(
    {
        "statement": lambda command, _: any(map(destroys, _texts(command))),
        "typed": lambda command, _: len(command.argv) > 2 and destroys(" ".join(command.argv)),
        # Whether an option says that data may go: `--accept-data-loss`, `--force-reset`.
        "accepts_loss": lambda command, _: any(
            _LOSES.fullmatch(flag) is not None for flag in command.flags
        ),
        # Whether a statement deletes every node or edge of a graph.
        "graph": lambda command, _: any(
            _EVERY_NODE.search(text) is not None and " where " not in text.lower()
            for text in _texts(command)
        ),
    }
)

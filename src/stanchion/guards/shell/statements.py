"""A small look at SQL on a command line: whether a statement destroys, or gives rights away."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.regex import regex

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

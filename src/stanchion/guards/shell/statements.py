"""A small look at SQL on a command line: whether a statement destroys, or gives rights away."""

from __future__ import annotations

import re
from typing import Final

_COMMENT: Final = re.compile(r"/\*[^*]*(?:\*(?!/)[^*]*)*\*/|--[^\n]*")
_TEXT: Final = re.compile(r"'[^']*'")
_DESTROYS: Final = re.compile(
    r"^(?:drop\s+(?:table|database|schema|index|view|user|role|collection|keyspace|type|function|trigger|tablespace)"
    r"|truncate\s+[\w.]|grant\s+all|revoke\b|alter\s+table\s+\S+\s+drop|alter\s+user|reset\s+master|purge\s+binary|"
    r"flushall|flushdb|shutdown)",
)
_UNBOUNDED: Final = re.compile(r"^(?:delete\s+from|update\s+\S+\s+set)\b")


def destroys(text: str) -> bool:
    """Whether one of the statements drops, truncates, changes rights, or deletes or updates without a condition."""
    plain = _TEXT.sub("''", _COMMENT.sub(" ", text[:65_536])).lower()
    for statement in plain.split(";"):
        words = " ".join(statement.split())
        if words.startswith("with ") and " delete from " in words:
            return True
        if _DESTROYS.match(words):
            return True
        if _UNBOUNDED.match(words) and " where " not in f"{words} ":
            return True
    return False

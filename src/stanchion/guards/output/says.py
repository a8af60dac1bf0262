"""Saying: whether some content says anything, is nothing but an error, or stands in a fence."""

from __future__ import annotations

import re
from typing import Any, Final

from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import listed

MAX_ERROR: Final = 2_000
"""A longer text says more than an error."""

NOTHINGS: Final = frozenset(
    {"", "null", "none", "nil", "undefined", "n/a", "nan", "{}", "[]", '""', "''", "()"}
)
"""Texts, in small letters, that say nothing."""

_ERROR: Final = regex(
    r"(?:(?-i:(?:[A-Za-z]\w{0,60}\.){0,8}[A-Za-z]\w{0,60}(?:Error|Exception))|error|exception|"
    r"fatal|err!?)(?:\s*\[?\d{1,5}\]?)?\s*:"
    r"|(?:http(?:/\d(?:\.\d)?)?\s+)?(?:error\s+)?(?:[45]\d\d\s+)?(?:bad "
    r"request|unauthori[sz]ed|forbidden|not found"
    r"|too many requests|internal server error|bad gateway|service unavailable|gateway time-?out"
    r"|rate limit exceeded)\.?\Z"
    r"|error\Z",
    re.IGNORECASE,
)
_TRACE: Final = "Traceback (most recent call last):"
_ERRING: Final = listed("error errors exception traceback")
_BESIDE: Final = _ERRING | frozenset(
    {
        "message",
        "code",
        "status",
        "statusCode",
        "status_code",
        "detail",
        "details",
        "type",
        "ok",
        "success",
        "isError",
    }
)
"""Names of an object that is nothing but an error."""
NAME: Final = regex(r"[\w-]{0,20}")
"""What may stand behind the opening of a fence."""


def bare(text: str) -> str:
    """A text without the white space and the one fence that may stand round all of it."""
    text = text.strip()
    if not (text.startswith("```") and text.endswith("```")):
        return text
    name, line_end, body = text[3:-3].partition("\n")
    return body.strip() if line_end and NAME.fullmatch(name.strip()) is not None else text


def content_in(result: Any) -> Any:
    """What a result says: the data or the texts of one that an MCP server gave, and all of
    another."""
    if not isinstance(result, dict) or not isinstance(result.get("content"), list):
        return result
    if "structuredContent" in result:
        return result["structuredContent"]
    items = result["content"]
    if not all(isinstance(item, dict) and item.get("type") == "text" for item in items):
        return result if items else None
    texts = [text for item in items if isinstance(text := item.get("text"), str)]
    return "\n".join(texts)


def says_nothing(content: Any) -> bool:
    """Whether there is nothing in some content: no text but words for nothing, no number, no truth
    value."""
    waiting = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            if len(value) > 64 and not value.isspace():
                return False
            if value.strip().lower() not in NOTHINGS:
                return False
        elif isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list | tuple):
            waiting += value
        elif value is not None:
            return False
    return True


def is_error(content: Any) -> bool:
    """Whether some content is nothing but an error: one line that begins as errors do, a traceback,
    or an object with an error and what belongs to one."""
    if isinstance(content, dict):
        return any(content.get(name) for name in _ERRING) and content.keys() <= _BESIDE
    if not isinstance(content, str) or len(content) > MAX_ERROR:
        return False
    text = content.strip()
    if text.startswith(_TRACE):
        return True
    return "\n" not in text and _ERROR.match(text) is not None

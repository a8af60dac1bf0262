"""Reading: the structure of what a tool gave back, whether it came as data or as the text of data."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Final

import msgspec

from stanchion.kernel.regex import regex

LONGEST: Final = 65_536
"""How long a text may be to be read as a literal; longer ones are texts."""

ODD: Final = regex(r"\\[^\\'\"abfnrtvxuUN0-7\n]")
"""An escape that no literal has; Python would warn of it."""


def read(content: Any, parse: Callable[[str], Any], depth: int = 0) -> Any:
    """The structure of some content; a text that holds no structure is itself."""
    if not isinstance(content, str):
        return content
    text = content.strip()
    first = text[:1]
    if first in ("{", "[", '"', "'", "("):
        found = _structure(text)
        if isinstance(found, str) and depth < 2 and found != content:
            return read(found, parse, depth + 1)
        if isinstance(found, dict | list | tuple):
            return found
    return parse(text) if ":" in text or first == "-" else text


def _structure(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        pass
    if len(text) > LONGEST or ODD.search(text):
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None

"""Reading what stands between quotes."""

from __future__ import annotations

import re
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.policy.conditions.errors import ConditionError

_ESCAPE: Final = regex(
    r"\\(?:(?P<plain>[abfnrtv\\?\"'`])|(?P<octal>[0-3][0-7]{2})|[xX](?P<hex>[0-9a-fA-F]{2})"
    r"|(?P<code>u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})|(?P<wrong>.))",
    re.DOTALL,
)
_PLAIN: Final = dict(zip("abfnrtv\\?\"'`", "\a\b\f\n\r\t\v\\?\"'`", strict=True))


def text_of(body: str, as_bytes: bool, raw: bool, offset: int) -> str | bytes:
    """The value of a literal; `offset` is where its body stands in the condition."""
    if raw or "\\" not in body:
        return body.encode() if as_bytes else body
    parts: list[bytes] = []
    texts: list[str] = []
    place = 0
    for match in _ESCAPE.finditer(body):
        before = body[place : match.start()]
        char = _char(match, as_bytes, offset)
        if as_bytes:
            parts += (before.encode(), bytes((ord(char),)))
        else:
            texts += (before, char)
        place = match.end()
    rest = body[place:]
    return b"".join([*parts, rest.encode()]) if as_bytes else "".join([*texts, rest])


def _char(match: re.Match[str], as_bytes: bool, offset: int) -> str:
    plain, octal, hexa, code = match["plain"], match["octal"], match["hex"], match["code"]
    if plain is not None:
        return _PLAIN[plain]
    if octal is not None:
        return chr(int(octal, 8))
    if hexa is not None:
        return chr(int(hexa, 16))
    point = -1 if code is None or as_bytes else int(code[1:], 16)
    if 0 <= point < 0xD800 or 0xDFFF < point <= 0x10FFFF:
        return chr(point)
    hint = "escape a backslash as `\\\\`, or write a raw text as `r'…'`"
    raise ConditionError(
        f"`{match[0]}` is not an escape: {hint}", offset + match.start(), offset + match.end()
    )

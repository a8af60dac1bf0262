"""Cutting the text of a condition into words."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from stanchion.kernel.regex import regex
from stanchion.policy.conditions.kinds import Uint
from stanchion.policy.conditions.limits import INT_MAX, TEXT, UINT_MAX, ConditionError

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


WORDS: Final = {
    "and": "&&",
    "or": "||",
    "not": "not",
    "AND": "&&",
    "OR": "||",
    "NOT": "not",
    "in": "in",
}
"""Words that are operators."""

LITERALS: Final[dict[str, bool | None]] = {"true": True, "false": False, "null": None}

RESERVED: Final = frozenset(
    {
        "as",
        "break",
        "const",
        "continue",
        "else",
        "for",
        "function",
        "if",
        "import",
        "let",
        "loop",
        "package",
        "namespace",
        "return",
        "var",
        "void",
        "while",
    }
)
"""Words that CEL keeps for itself: allowed after a dot, nowhere else."""

_TOKEN: Final = regex(
    r"""(?P<space>(?:[ \t\r\n\f]+|//[^\n]*)+)
    | (?P<string>[rR]?[bB]?[rR]?(?:'{3}|"{3}|'|"))
    | (?P<name>[A-Za-z_][A-Za-z_0-9]*)
    | (?P<hex>0[xX][0-9a-fA-F]+[uU]?)
    | (?P<double>[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)
    | (?P<int>[0-9]+[uU]?)
    | (?P<quoted>`[A-Za-z0-9_.\-/ ]+`)
    | (?P<op>&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()\[\]{}])""",
    re.VERBOSE,
)
_HIDDEN: Final = regex("[\ud800-\udfff\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Characters that make a text look like another one; an escape in a literal shows what it is."""

_STRING_END: Final = {
    "'": regex(r"(?:[^'\\\r\n]|\\.)*'"),
    '"': regex(r'(?:[^"\\\r\n]|\\.)*"'),
    "'''": regex(r"(?:[^'\\]|\\.|'(?!''))*'''", re.DOTALL),
    '"""': regex(r'(?:[^"\\]|\\.|"(?!""))*"""', re.DOTALL),
}
_RAW_END: Final = {
    "'": regex(r"[^'\r\n]*'"),
    '"': regex(r'[^"\r\n]*"'),
    "'''": regex(r"(?:[^']|'(?!''))*'''"),
    '"""': regex(r'(?:[^"]|"(?!""))*"""'),
}


class Lexeme(msgspec.Struct, frozen=True, gc=False):
    """One word: its kind (`name`, `op`, `literal`, `field`, `end`), what it says and where it
    stands."""

    kind: str
    text: str
    start: int
    end: int
    value: Any = None


def tokens_of(source: str) -> list[Lexeme]:
    """All words of a condition and an `end`; raises `ConditionError` for what is none."""
    if len(source) > TEXT:
        hint = f"a condition has at most {TEXT:,}: split it into several rules"
        raise ConditionError(
            f"the condition has {len(source):,} characters, {hint}", TEXT, len(source)
        )
    hidden = _HIDDEN.search(source)
    if hidden is not None:
        message = (
            f"the invisible character U+{ord(hidden[0]):04X} is not allowed: write it as an "
            f"escape, or leave it out"
        )
        raise ConditionError(message, hidden.start(), hidden.end())
    found: list[Lexeme] = []
    place = 0
    while place < len(source):
        match = _TOKEN.match(source, place)
        if match is None:
            raise _unknown(source, place)
        kind, end = match.lastgroup, match.end()
        if kind == "string":
            token = _string(source, match)
            found.append(token)
            end = token.end
        elif kind != "space":
            found.append(_token(kind, match[0], place, end))
        place = end
    found.append(Lexeme("end", "", place, place))
    return found


def _unknown(source: str, place: int) -> ConditionError:
    char = source[place]
    hints = {
        "=": "compare with `==`",
        "&": "write `and`",
        "|": "write `or`",
        "~": "write `text.matches(r'pattern')` to look for a pattern",
        "`": "a quoted field holds letters, digits and `_.-/ `, and a closing backtick",
    }
    hint = hints.get(char, "write texts in quotes")
    return ConditionError(f"`{char}` means nothing here: {hint}", place, place + 1)


def _token(kind: str | None, text: str, start: int, end: int) -> Lexeme:
    match kind:
        case "name" if text in WORDS:
            return Lexeme("op", WORDS[text], start, end, text)
        case "name" if text in LITERALS:
            return Lexeme("literal", text, start, end, LITERALS[text])
        case "name":
            return Lexeme("name", text, start, end)
        case "op":
            return Lexeme("op", text, start, end)
        case "quoted":
            return Lexeme("field", text[1:-1], start, end)
        case "double":
            value = float(text)
            if value == float("inf"):
                raise ConditionError(
                    f"`{text}` is too large for a double: write a smaller number", start, end
                )
            return Lexeme("literal", text, start, end, value)
        case _:
            return Lexeme("literal", text, start, end, _integer(text, start, end))


def _integer(text: str, start: int, end: int) -> int:
    """A whole number; one more than the largest is let through, because a minus sign may stand
    before it."""
    digits = text.rstrip("uU")
    unsigned = digits != text
    largest = UINT_MAX if unsigned else INT_MAX + 1
    value = (
        int(digits, 16 if digits[:2] in ("0x", "0X") else 10) if len(digits) <= 40 else largest + 1
    )
    if value > largest:
        shown = text if len(text) <= 40 else f"{text[:40]}…"
        raise ConditionError(
            f"`{shown}` does not fit into 64 bits: write a smaller number", start, end
        )
    return Uint(value) if unsigned else value


def _string(source: str, match: re.Match[str]) -> Lexeme:
    opening = match[0]
    prefix = opening.rstrip("'\"").lower()
    quote = opening[len(prefix) :]
    raw = "r" in prefix
    end = (_RAW_END if raw else _STRING_END)[quote].match(source, match.end())
    if prefix in ("rr", "rbr") or end is None:
        message = f"the text that begins with `{opening}` has no end: close it with `{quote}`"
        raise ConditionError(message, match.start(), len(source))
    body = source[match.end() : end.end() - len(quote)]
    value = text_of(body, "b" in prefix, raw, match.end())
    return Lexeme("literal", source[match.start() : end.end()], match.start(), end.end(), value)

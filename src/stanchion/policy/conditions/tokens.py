"""Cutting the text of a condition into words."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from stanchion.kernel.regex import regex
from stanchion.policy.conditions.limits import INT_MAX, TEXT, ConditionError

_ESCAPE: Final = regex(
    r"\\(?:(?P<plain>[abfnrtv\\?\"'`])|(?P<octal>[0-3][0-7]{2})|[xX](?P<hex>[0-9a-fA-F]{2})"
    r"|(?P<code>u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})|(?P<wrong>.))",
    re.DOTALL,
)
_PLAIN: Final = dict(zip("abfnrtv\\?\"'`", "\a\b\f\n\r\t\v\\?\"'`", strict=True))


def text_of(body: str, raw: bool, offset: int) -> str:
    """The value of a literal; `offset` is where its body stands in the condition."""
    if raw:
        return body
    return _ESCAPE.sub(lambda match: _char(match, offset), body)


def _char(match: re.Match[str], offset: int) -> str:
    plain, octal, hexa, code = match["plain"], match["octal"], match["hex"], match["code"]
    if plain is not None:
        return _PLAIN[plain]
    if octal is not None:
        return chr(int(octal, 8))
    if hexa is not None:
        return chr(int(hexa, 16))
    point = -1 if code is None else int(code[1:], 16)
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
    | (?P<string>[rR]?(?:'{3}|"{3}|'|"))
    | (?P<name>[A-Za-z_][A-Za-z_0-9]*)
    | (?P<hex>0[xX][0-9a-fA-F]+)
    | (?P<double>[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)
    | (?P<int>[0-9]+)
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
    """One word: its kind (`name`, `op`, `literal`, `end`), what it says and where it
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
    largest = INT_MAX + 1
    base = 16 if text[:2] in ("0x", "0X") else 10
    value = int(text, base) if len(text) <= 40 else largest + 1
    if value > largest:
        shown = text if len(text) <= 40 else f"{text[:40]}…"
        raise ConditionError(
            f"`{shown}` does not fit into 64 bits: write a smaller number", start, end
        )
    return value


def _string(source: str, match: re.Match[str]) -> Lexeme:
    opening = match[0]
    raw = opening[0] in "rR"
    quote = opening[raw:]
    end = (_RAW_END if raw else _STRING_END)[quote].match(source, match.end())
    if end is None:
        message = f"the text that begins with `{opening}` has no end: close it with `{quote}`"
        raise ConditionError(message, match.start(), len(source))
    body = source[match.end() : end.end() - len(quote)]
    value = text_of(body, raw, match.end())
    return Lexeme("literal", source[match.start() : end.end()], match.start(), end.end(), value)

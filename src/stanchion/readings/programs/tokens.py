"""Tokens: the names, texts and signs of a piece of code, comments left out."""

from __future__ import annotations

from typing import Final, Literal

from stanchion.kernel.regex import regex
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.programs.syntax import Syntax
from stanchion.readings.shell.outputs import unescape

Kind = Literal["name", "text", "run", "number", "sign", "line", "words"]
MANY: Final = 20_000
"""How many tokens of one piece of code are read."""

PAIRS: Final = {"(": ")", "{": "}", "[": "]", "<": ">"}
_SPACE: Final = regex(r"[ \t\r]+")
_NAME: Final = regex(r"[$@%&]?[A-Za-z_]\w*[!?]?(?![=>]=)|\$\{?\w+\}?|[@$]\w+")
_NUMBER: Final = regex(r"0x[0-9a-fA-F]+|0o[0-7]+|\d+")
_SIGN: Final = regex(r"\.\.\.?|::|->|=>|\?\.|&\.|\|\||&&|==|!=|<<|>>|[^\sA-Za-z0-9_]")
_LETTERED: Final = regex(r"(?:%([qQxwWi]?)|\b(q|qq|qx|qw)\s*)([({\[<|/!])")
WORDS: Final = frozenset({"w", "W", "i", "I", "qw"})
"""Letters before a list of words."""
_LONG: Final = regex(r"\[(=*)\[")


class Token(NamedTuple):
    """A piece of code: what it is, and its text; `run` is a text that is run as a command."""

    kind: Kind
    text: str


def tokens(code: str, syntax: Syntax) -> list[Token]:
    """The tokens of a piece of code."""
    found: list[Token] = []
    at = 0
    while at < len(code) and len(found) < MANY:
        space = _SPACE.match(code, at)
        if space is not None:
            at = space.end()
            continue
        char = code[at]
        if char == "\n":
            found.append(Token("line", char))
            at += 1
        elif code.startswith(syntax.comment, at) and not (
            char == "#" and found and found[-1].text == "$"
        ):
            close = code.find("\n", at)
            at = len(code) if close < 0 else close
        elif code.startswith("/*", at):
            close = code.find("*/", at + 2)
            at = len(code) if close < 0 else close + 2
        else:
            at = _token(code, at, syntax, found)
    return found


def _token(code: str, at: int, syntax: Syntax, found: list[Token]) -> int:
    """Read one token; where to go on."""
    char = code[at]
    if char in "\"'`":
        return _string(code, at, syntax, found)
    if syntax.letters and (lettered := _LETTERED.match(code, at)) is not None and _may_begin(found):
        return _lettered(code, lettered.end(), lettered[1] or lettered[2] or "", lettered[3], found)
    if char == "[" and (long := _LONG.match(code, at)) is not None and "--" in syntax.comment:
        close = code.find(f"]{long[1]}]", long.end())
        end = len(code) if close < 0 else close
        found.append(Token("text", code[long.end() : end]))
        return end + len(long[0])
    if (name := _NAME.match(code, at)) is not None:
        found.append(Token("name", name[0]))
        return name.end()
    if (number := _NUMBER.match(code, at)) is not None:
        found.append(
            Token("number", str(int(number[0], 0) if number[0][:2] == "0x" else number[0]))
        )
        return number.end()
    sign = _SIGN.match(code, at)
    found.append(Token("sign", sign[0] if sign is not None else char))
    return at + (len(sign[0]) if sign is not None else 1)


def _may_begin(found: list[Token]) -> bool:
    """Whether a text may stand here: behind a name or a number `%` is a sign of arithmetic."""
    return (
        not found
        or found[-1].kind in ("sign", "line")
        or found[-1].text in ("print", "puts", "eval", "system")
    )


def _string(code: str, at: int, syntax: Syntax, found: list[Token]) -> int:
    char = code[at]
    close = char * 3 if code.startswith(char * 3, at) else char
    begin = end = at + len(close)
    while end < len(code) and not code.startswith(close, end):
        end += 2 if code[end] == "\\" else 1
    inner = code[begin:end]
    text = inner.replace("\\'", "'").replace("\\\\", "\\") if char == "'" else unescape(inner)
    found.append(Token("run" if char == "`" and syntax.backquote_runs else "text", text))
    return end + len(close)


def _lettered(code: str, at: int, letter: str, opened: str, found: list[Token]) -> int:
    """`q(…)`, `%x{…}` and their like, which nest."""
    close, depth, end = PAIRS.get(opened, opened), 1, at
    while end < len(code):
        if code[end] == close:
            depth -= 1
            if not depth:
                break
        elif code[end] == opened:
            depth += 1
        end += 1
    kind: Kind = "run" if letter in ("x", "qx") else "words" if letter in WORDS else "text"
    found.append(Token(kind, code[at:end]))
    return end + 1

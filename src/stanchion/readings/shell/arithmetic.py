"""Arithmetic as a shell does it: whole numbers of 64 bits, variables, assignments."""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import add, and_, eq, ge, gt, le, lt, mul, ne, or_, sub, xor
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.shell.tree import Meter

TOKEN: Final = regex(
    r"\s*(?:(\d+#[0-9A-Za-z@_]+|0[xX][0-9A-Fa-f]+|\d+)|([A-Za-z_]\w*)|"
    r"(<<=|>>=|\*\*|\+\+|--|&&|\|\||[-+*/%&|^]=|<<|>>|<=|>=|==|!=|[-+*/%<>=!~&|^?:,()]))",
    re.ASCII,
)
DIGITS: Final = {
    char: value
    for value, char in enumerate("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ@_")
}
BINDING: Final = {
    op: binding
    for binding, ops in enumerate(
        (
            ",",
            "= += -= *= /= %= &= |= ^= <<= >>=",
            "?",
            "||",
            "&&",
            "|",
            "^",
            "&",
            "== !=",
            "< > <= >=",
            "<< >>",
            "+ -",
            "* / %",
            "**",
        ),
        1,
    )
    for op in ops.split()
}
PREFIX: Final = 15
_NAMED: Final = regex(r"\s*[A-Za-z_]")
MASK: Final = (1 << 64) - 1


class NotKnown(Exception):
    """A number depends on something that is not known, or is no number."""


class Arithmetic:
    """Computes one expression; variables are read and set by the functions given."""

    def __init__(
        self, text: str, get: Callable[[str], int], put: Callable[[str, int], None], meter: Meter
    ) -> None:
        self.tokens = _tokens(text)
        self.at = 0
        self.get = get
        self.put = put
        self.meter = meter

    def value(self) -> int:
        """The expression's value; nothing is zero."""
        if not self.tokens:
            return 0
        found = self._binary(0)
        if self.at < len(self.tokens):
            raise NotKnown
        return found

    def _peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self.at += 1
        return token

    def _binary(self, least: int) -> int:
        self.meter.step()
        self.meter.down()
        name = self._peek()
        left = self._prefix()
        while (binding := BINDING.get(self._peek(), -1)) > least:
            op = self._take()
            if binding == 2:
                value = self._binary(1)
                left = self._put(name, value if op == "=" else _apply(op[:-1], left, value))
            elif op == "?":
                left = self._choose(left)
            else:
                right = self._binary(binding - 1 if op == "**" else binding)
                left = _signed(_apply(op, left, right))
        self.meter.up()
        return left

    def _put(self, name: str, value: int) -> int:
        if not name.isidentifier():
            raise NotKnown
        self.put(name, _signed(value))
        return _signed(value)

    def _choose(self, left: int) -> int:
        first = self._binary(2)
        if self._take() != ":":
            raise NotKnown
        second = self._binary(2)
        return first if left else second

    def _prefix(self) -> int:
        token = self._take()
        if token == "(":
            inner = self._binary(0)
            if self._take() != ")":
                raise NotKnown
            return inner
        if token in ("++", "--"):
            name = self._take()
            return self._put(name, self.get(name) + (1 if token == "++" else -1))
        if token and token in "+-!~":
            inner = self._binary(PREFIX - 1)
            return {"+": inner, "-": -inner, "!": int(not inner), "~": ~inner}[token]
        if token.isidentifier():
            value = self.get(token) if self._peek() != "=" else 0
            if self._peek() in ("++", "--"):
                self._put(token, value + (1 if self._take() == "++" else -1))
            return value
        return number(token)


def number(token: str) -> int:
    """The value of a number as it is written: decimal, octal, hexadecimal, or `base#digits`."""
    if "#" in token:
        base_text, _, digits = token.partition("#")
        base, value = int(base_text), 0
        if not 2 <= base <= 64:
            raise NotKnown
        for char in digits.lower() if base <= 36 else digits:
            digit = DIGITS.get(char, 99)
            if digit >= base:
                raise NotKnown
            value = (value * base + digit) & MASK
        return _signed(value)
    if not token or not token[0].isdigit():
        raise NotKnown
    try:
        return _signed(
            int(token[:24], 16)
            if token[:2] in ("0x", "0X")
            else int(token[:24], 8 if token[0] == "0" else 10)
        )
    except ValueError:
        raise NotKnown from None


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            if text[at:].strip():
                raise NotKnown
            break
        token = match.group().strip()
        at = match.end()
        if (
            token in ("++", "--")
            and not (found and found[-1].isidentifier())
            and not _NAMED.match(text, at)
        ):
            found += token
        else:
            found.append(token)
    return found


def _signed(value: int) -> int:
    value &= MASK
    return value - (1 << 64) if value >> 63 else value


def _apply(op: str, left: int, right: int) -> int:
    if op in ("/", "%"):
        if not right:
            raise NotKnown
        whole = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return whole if op == "/" else left - whole * right
    if op == "**":
        if not 0 <= right <= 64:
            raise NotKnown
        power: int = left**right
        return power
    return _PLAIN[op](left, right)


_PLAIN: Final[dict[str, Callable[[int, int], int]]] = {
    "+": add, "-": sub, "*": mul, "|": or_, "^": xor, "&": and_, "==": eq, "!=": ne, "<": lt,
    ">": gt, "<=": le, ">=": ge, ",": lambda _, right: right,
    "&&": lambda left, right: int(bool(left) and bool(right)),
    "||": lambda left, right: int(bool(left) or bool(right)),
    "<<": lambda left, right: left << (right & 63),
    ">>": lambda left, right: left >> (right & 63),
}  # fmt: skip

"""Fingerprints of calls: equal for calls that mean the same, near for those that differ in trifles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from typing import Any, Final, NamedTuple
from unicodedata import normalize
from zlib import crc32

SKETCHED: Final = 16
"""How many tokens of a text stand for all of it: those with the smallest hashes."""
READ: Final = 2_000
"""How many tokens are looked at when texts are compared."""
LONG: Final = 50_000
"""How many characters of a text are read word by word; what comes behind them is compared as it is."""
ALIKE: Final = 0.8
"""From which share of common tokens on two texts are reworded rather than different."""

_SPACES: Final = re.compile(r"[^\S\n]+")
_DIGITS: Final = re.compile(r"\d+")
_WORD: Final = re.compile(r"\w+")


class Fingerprint(NamedTuple):
    """What is kept of a call. `exact` is of its tool and arguments; `loose` forgets case, punctuation and spaces;
    `sketch` has some of its words, whatever their numbers, to see how alike two calls are."""

    exact: str
    loose: str
    sketch: str


def fingerprint(tool: str, args: Any) -> Fingerprint:
    """The fingerprint of a call; the order of arguments, spaces and ways to write a number do not change it."""
    pieces = list(_pieces(args))
    said = normalize("NFKC", " ".join([piece[1:] for piece in pieces])).casefold()
    words = " ".join(_WORD.findall(said[:LONG]))
    values = [piece[1:] for piece in pieces if piece[0] in "s#"]
    told = normalize("NFKC", " ".join(values)).casefold()
    return Fingerprint(
        digest(tool, *pieces),
        digest(tool, words, said[LONG:]),
        _sketch(islice(_WORD.finditer(told), READ)),
    )


def exact_of(tool: str, args: Any) -> str:
    """The `exact` of a call's fingerprint alone."""
    return digest(tool, *_pieces(args))


def digest(*pieces: str) -> str:
    """A short hash of texts that cannot run into each other."""
    whole = sha256()
    for piece in pieces:
        data = piece.encode("utf-8", "surrogatepass")
        whole.update(b"%d:" % len(data))
        whole.update(data)
    return whole.hexdigest()[:24]


def canonical(value: Any) -> str:
    """A value as one text that is equal for equal data."""
    return "\n".join(_pieces(value))


def alike(one: str, other: str) -> bool:
    """Whether two sketches are of texts that have most of their words in common."""
    mine, others = _tokens(one), _tokens(other)
    if not mine or not others:
        return False
    smallest = sorted(mine | others)[:SKETCHED]
    return sum([token in mine and token in others for token in smallest]) >= ALIKE * len(smallest)


def plain(text: str) -> str:
    """A text without the spaces that mean nothing. Lines and their indentation stay: in code they mean something."""
    if "\n" not in text:
        return _SPACES.sub(" ", normalize("NFC", text)).strip()
    lines = normalize("NFC", text).replace("\r\n", "\n").split("\n")
    kept = []
    for line in lines:
        bare = line.lstrip()
        indent = line[: len(line) - len(bare)]
        kept.append(indent + _SPACES.sub(" ", bare).rstrip() if bare else "")
    return "\n".join(kept).strip("\n").rstrip()


def _pieces(value: Any) -> Iterator[str]:
    """A value piece by piece, keys in order; the first character says what a piece is. Nothing is too deep for it."""
    ahead: list[Any] = [value]
    while ahead:
        one = ahead.pop()
        if isinstance(one, _Mark):
            yield one
        elif isinstance(one, str):
            yield "s" + plain(one)
        elif isinstance(one, dict):
            yield "{"
            ahead.append(_Mark("}"))
            for key in sorted(one, key=str, reverse=True):
                ahead += [one[key], _Mark("k" + plain(str(key)))]
        elif isinstance(one, list | tuple):
            yield "["
            ahead.append(_Mark("]"))
            ahead += reversed(one)
        elif one is None or isinstance(one, bool):
            yield f"={one}"
        else:
            yield _number(one)


class _Mark(str):
    """A piece that is ready, among values that are not."""

    __slots__ = ()


def _number(value: Any) -> str:
    """A number in one form: 1, 1.0 and 1e0 are the same. In hexadecimal, because that is never too long to write."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"#{value:x}" if isinstance(value, int) else f"#{value}"


def _sketch(found: Iterator[re.Match[str]]) -> str:
    tokens = {crc32(_DIGITS.sub("0", word[0]).encode("utf-8", "surrogatepass")) & 0xFFFFFF for word in found}
    return "".join([f"{token:06x}" for token in sorted(tokens)[:SKETCHED]])


def _tokens(sketch: str) -> set[str]:
    return {sketch[at : at + 6] for at in range(0, len(sketch), 6)}

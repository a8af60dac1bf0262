"""Fingerprints of calls: equal for calls that mean the same, near for those that differ in trifles."""

from __future__ import annotations

import re
from binascii import b2a_base64
from collections.abc import Hashable, Iterator
from functools import lru_cache
from hashlib import sha256
from itertools import islice
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from typing import Any, Final, Generic, NamedTuple, TypeVar
from unicodedata import normalize
from zlib import crc32

SKETCHED: Final = 16
"""How many words of a text stand for all of it: those with the smallest hashes."""
READ: Final = 2_000
"""How many words are looked at when texts are compared."""
LONG: Final = 50_000
"""How many characters of a text are read word by word; what comes behind them is compared as it is."""
ALIKE: Final = 0.8
"""From which share of common words on two texts are reworded rather than different."""
SMALL: Final = 2_000
"""Arguments of so many characters at most are remembered with their fingerprint."""

_SIGNS: Final = ascii_uppercase + ascii_lowercase + digits + "+/"
PAIRS: Final = tuple([one + other for one in _SIGNS for other in _SIGNS])
"""Two characters for every number of twelve bits."""

NAME, TEXT, NUMBER, SEPARATOR = ":", '"', "#", "\0"
"""What pieces of data begin with, and what stands between them; none of it is in a word."""

_TEXT: Final = frozenset({str})
_SCALARS: Final = _TEXT | {int, float, bool, type(None)}
_BLANK: Final = b"\t\x0b\x0c\r\x1c\x1d\x1e\x1f"
"""Spaces of ASCII besides ` ` and the end of a line."""
_NO_WORD: Final = bytes(code for code in range(1, 128) if chr(code) not in ascii_letters + digits + "_")
"""Characters of ASCII that are in no word, besides what separates pieces."""
_LOWER: Final = bytes.maketrans(ascii_uppercase.encode(), ascii_lowercase.encode())
_WORDS: Final = _LOWER.translate(
    bytes.maketrans(b"\0" + _NO_WORD + digits.encode(), b" " * (1 + len(_NO_WORD)) + b"0" * len(digits))
)
"""ASCII in lower case, with a space for what is in no word, and one digit for all."""
_LOW: Final = (0xFFFFFF).__and__
_BETWEEN: Final = re.compile(r"[^\w\0]+")
_DIGITS: Final = re.compile(r"\d+")
_WORD: Final = re.compile(r"\w+")

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Lately(Generic[K, V]):
    """Remembers the values of so many keys at least, and of twice as many at most; then the older half is forgotten."""

    def __init__(self, size: int = 512) -> None:
        self._size = size
        self._new: dict[K, V] = {}
        self._old: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        """The value, where it is still remembered."""
        known = self._new.get(key)
        return self._old.get(key) if known is None else known

    def keep(self, key: K, value: V) -> None:
        """Remember a value."""
        if len(self._new) >= self._size:
            self._new, self._old = {}, self._new
        self._new[key] = value

    def clear(self) -> None:
        """Forget everything."""
        self._new, self._old = {}, {}


class Fingerprint(NamedTuple):
    """What is kept of a call. `exact` is of its tool and arguments; `loose` forgets case, punctuation and spaces;
    `sketch` has some of its words, whatever their numbers, to see how alike two calls are."""

    exact: str
    loose: str
    sketch: str


LATELY: Final[Lately[tuple[Any, ...], Fingerprint]] = Lately()
"""Fingerprints by tool, arguments, and the types of those: `1` is not `True`."""


def fingerprint(tool: str, args: dict[str, Any]) -> Fingerprint:
    """The fingerprint of a call; the order of arguments, spaces and ways to write a number do not change it.

    That of small arguments is remembered, so that a repeated call is not hashed again.
    """
    values = args.values()
    kinds = set(map(type, values))
    if kinds <= _TEXT:
        asked = (tool, *args, *values)
    elif kinds <= _SCALARS:
        asked = (tool, *args, *values, *map(type, values))
    else:
        return _fingerprint(tool, args)
    known = LATELY.get(asked)
    return _fingerprint(tool, args, asked) if known is None else known


def _fingerprint(tool: str, args: Any, asked: tuple[Any, ...] = ()) -> Fingerprint:
    parts: list[str] = []
    values: list[str] = []
    exact = digest(tool, *_pieces(args, parts, values))
    said, told = SEPARATOR.join(parts), " ".join(values)
    small = len(said) <= SMALL
    if said.isascii():
        bare = said[:LONG].encode().translate(_LOWER, _NO_WORD) + said[LONG:].lower().encode()
        numbered = told.encode().translate(_WORDS)
        while b"00" in numbered:
            numbered = numbered.replace(b"00", b"0")
        tokens = numbered.split(None, READ)[:READ]
    else:
        said, told = normalize("NFKC", said).casefold(), normalize("NFKC", told).casefold()
        bare = _bytes(_BETWEEN.sub("", said[:LONG]) + said[LONG:])
        tokens = [_bytes(_DIGITS.sub("0", word[0])) for word in islice(_WORD.finditer(told), READ)]
    hashes = sorted(set(map(_LOW, map(crc32, tokens))))[:SKETCHED]
    sketch = "".join([PAIRS[number & 0xFFF] for number in hashes])
    made = Fingerprint(exact, _four(crc32(bare)), sketch)
    if asked and small:
        LATELY.keep(asked, made)
    return made


@lru_cache(512)
def name_digest(name: str) -> str:
    """What stands for a tool's name, however long it is: four characters."""
    return _four(crc32(_bytes(name)))


def id_digest(call: str) -> str:
    """What stands for a call's id, in six characters."""
    number = crc32(_bytes(call))
    return PAIRS[number >> 24] + _four(number)


def digest(*pieces: str) -> str:
    """A hash of texts that cannot run into each other, in eight characters."""
    whole = SEPARATOR.join(pieces)
    if whole.count(SEPARATOR) >= len(pieces):
        whole = SEPARATOR.join(["", *[f"{len(piece)}:{piece}" for piece in pieces]])
    return b2a_base64(sha256(_bytes(whole)).digest()[:6], newline=False).decode()


def canonical(value: Any) -> str:
    """A value as one text that is equal for equal data."""
    return TEXT + plain(value) if type(value) is str else "\n".join(_pieces(value, [], []))


def alike(one: str, other: str) -> bool:
    """Whether two sketches are of texts that have most of their words in common.

    Both are in the order of one hash. Where a common word stands among the words of both texts together follows from
    its places in the two: only the first words of those together are counted.
    """
    if not one or not other:
        return False
    places = {other[at : at + 2]: at // 2 for at in range(0, len(other), 2)}
    both = counted = 0
    for at in range(0, len(one), 2):
        place = places.get(one[at : at + 2])
        if place is not None:
            counted += at // 2 + place - both < SKETCHED
            both += 1
    return counted >= ALIKE * min(SKETCHED, (len(one) + len(other)) // 2 - both)


def plain(text: str) -> str:
    """A text without the spaces that mean nothing. Lines and their indentation stay: in code they mean something."""
    if text.isascii():
        data = text.encode()
        tidy = len(data.translate(None, _BLANK)) == len(data)
    else:
        text, tidy = normalize("NFC", text), False
    if "\n" not in text:
        return text.strip() if tidy and "  " not in text else " ".join(text.split())
    kept = []
    for line in text.replace("\r\n", "\n").split("\n"):
        bare = line.lstrip()
        if not tidy or "  " in bare:
            line = line[: len(line) - len(bare)] + " ".join(bare.split())
        kept.append(line.rstrip())
    return "\n".join(kept).strip("\n").rstrip()


def _pieces(value: Any, said: list[str], told: list[str]) -> list[str]:
    """A value piece by piece, keys in order; the first character says what a piece is. Nothing is too deep for it.

    What it says is added to `said`, texts and numbers to `told` as well.
    """
    pieces: list[str] = []
    inside: list[tuple[Iterator[Any], dict[Any, Any] | None]] = [(iter((value,)), None)]
    while inside:
        items, named = inside[-1]
        for item in items:
            one = item
            if named is not None:
                word = type(item) is str and item.isascii() and item.isidentifier()
                text = item if word else plain(str(item))
                pieces.append(NAME + text)
                said.append(text)
                one = named[item]
            if isinstance(one, str):
                text = plain(one)
                pieces.append(TEXT + text)
                told.append(text)
            elif isinstance(one, dict):
                pieces.append("{")
                inside.append((iter(sorted(one, key=str)), one))
                break
            elif isinstance(one, list | tuple):
                pieces.append("[")
                inside.append((iter(one), None))
                break
            elif one is None or one is True or one is False:
                text = str(one)
                pieces.append("=" + text)
            else:
                text = _number(one)
                pieces.append(NUMBER + text)
                told.append(text)
            said.append(text)
        else:
            pieces.append("]" if named is None else "}")
            inside.pop()
    return pieces[:-1]


def _number(value: Any) -> str:
    """A number in one form: 1, 1.0 and 1e0 are the same. In hexadecimal, because that is never too long to write."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"{value:x}" if isinstance(value, int) else str(value)


def _four(number: int) -> str:
    return PAIRS[number & 0xFFF] + PAIRS[number >> 12 & 0xFFF]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")

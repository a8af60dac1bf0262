"""Fingerprints of calls: equal for calls that mean the same, near for those that differ in
trifles."""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final
from unicodedata import normalize
from zlib import crc32

import msgspec

from stanchion.kernel.regex import regex
from stanchion.readings.act import reads
from stanchion.readings.canonical import NAME, NUMBER, SAME, TEXT, pieces, plain
from stanchion.readings.names import KEPT, letters
from stanchion.readings.word_lists import Strings, listed

SKETCHED: Final = 16
"""How many words of a text stand for all of it: those with the smallest hashes."""
READ: Final = 2_000
"""How many words are looked at when texts are compared."""
LONG: Final = 50_000
"""How many characters of a text are read word by word; what comes behind them is compared as it
is."""
ALIKE: Final = 0.8
"""From which share of common words on two texts are reworded rather than different."""
BEGINNING: Final = 16_000
"""In so many characters there are as many words as are looked at, most often."""

FEW: Final = 16
"""Of more words than this, some are the same."""

_UPPER_CASE: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LOWER_CASE: Final = _UPPER_CASE.lower()
_DIGITS: Final = "0123456789"
_SIGNS: Final = _UPPER_CASE + _LOWER_CASE + _DIGITS + "+/"
PAIRS: Final = tuple([one + other for one in _SIGNS for other in _SIGNS])
"""Two characters for every number of twelve bits."""

SEPARATOR: Final = "\0"
"""What stands between pieces of data; it is in no word."""

_NO_WORD: Final = bytes(
    code for code in range(1, 128) if chr(code) not in _UPPER_CASE + _LOWER_CASE + _DIGITS + "_"
)
"""Characters of ASCII that are in no word, besides what separates pieces."""
_LOWER: Final = bytes.maketrans(_UPPER_CASE.encode(), _LOWER_CASE.encode())
_WORDS: Final = _LOWER.translate(
    bytes.maketrans(
        b"\0" + _NO_WORD + _DIGITS.encode(), b" " * (1 + len(_NO_WORD)) + b"0" * len(_DIGITS)
    )
)
"""ASCII in lower case, with a space for what is in no word, and one digit for all."""
_ASCII: Final = bytes(range(128))
_FLAT: Final = frozenset((str, int))
"""What has no parts, and is written in one step."""
_TOLD: Final = TEXT + NUMBER
_SAID: Final = NAME + SAME + _TOLD
"""What those pieces begin with whose words are compared; others are brackets."""
WIDEST: Final = 4
"""How many characters those of a text stand for, at the most and on the whole."""
_FAR: Final = regex(r"[^\x00-\x7f\w]")
"""Characters beyond ASCII that are in no word."""
_FAR_DIGIT: Final = regex(r"[^\D0-9]")


TRIES: Final = listed("attempt attempts retry retries try tries nonce timestamp iteration")
"""Words in the name of an argument that tells one try from another."""
MAKERS: Final = listed("request trace span correlation idempotency dedup deduplication")
"""Words that make an id or a key one of the call itself."""
PLACES: Final = listed("page offset skip cursor")
"""Words in the name of an argument that says where to go on. Who only reads gets more of the same
by it; who acts may mean another thing by each."""
SHORT: Final = 64
"""How long a value may be that is no text."""

MASK: Final = "~"
"""What stands for a value that is volatile."""


class Fingerprint(msgspec.Struct, frozen=True, gc=False):
    """What is kept of a call. `exact` is of its tool and arguments; `loose` forgets case,
    punctuation, spaces and arguments that only number the call; `sketch` has some of its words,
    whatever their numbers, to see how alike two calls are."""

    exact: str
    loose: str
    sketch: str


def normal_form(tool: str, args: dict[str, Any]) -> str:
    """A call as one text that is equal for equal calls: the order of arguments, spaces and ways to
    write a number do not change it."""
    whole = [tool, "{"]
    for name in sorted(args, key=str) if len(args) > 1 else args:
        value = args[name]
        kind = type(value)
        if not (kind in _FLAT and type(name) is str and name.isascii() and name.isidentifier()):
            whole = [tool, *pieces(args)]
            break
        if kind is str:
            # A line of words is in one form but for its ends.
            lone = value.isprintable() and "  " not in value and value.isascii()
            whole += (NAME + name, TEXT + (value.strip() if lone else plain(value)))
        else:
            whole += (NAME + name, f"{NUMBER}{value:x}")
    else:
        whole.append("}")
    return _joined(whole)


def fingerprint(tool: str, args: dict[str, Any]) -> Fingerprint:
    """The fingerprint of a call."""
    form = normal_form(tool, args)
    volatile = volatile_names(tool, *args)
    return print_of(form, normal_form(tool, settled(args, volatile)) if volatile else form)


def print_of(form: str, settled_form: str = "") -> Fingerprint:
    """The fingerprint of a call by its normal form; `settled_form` is that without what is
    volatile, where anything is."""
    said, told = _said_in(form)
    if settled_form and settled_form != form:
        said, _ = _said_in(settled_form)
    if said.isascii():
        bare = said[:LONG].encode().translate(_LOWER, _NO_WORD)
        rest = said[LONG:].lower()
    else:
        # One character may stand for many: no more is folded than is looked at closely.
        bare = _bytes(_without_signs(_folded(said[:LONG]), "")).translate(_LOWER, _NO_WORD)
        rest = said[LONG:].casefold()
    if rest:
        bare += _bytes(rest)
    plainly = told.isascii()
    words = _words(told[:BEGINNING] if plainly else _folded(told[:BEGINNING]))
    if len(words) <= READ and len(told) > BEGINNING:
        words = _words(told if plainly else _folded(told))
    if len(words) > FEW:
        words = [*{*words[:READ]}]
    hashes = sorted({crc32(word) & 0xFFFFFF for word in words})[:SKETCHED]
    sketch = "".join([PAIRS[one & 0xFFF] for one in hashes])
    return Fingerprint(_digest(form), _four(crc32(bare)), sketch)


def _said_in(form: str) -> tuple[str, str]:
    """What is compared of a normal form: its names, texts and numbers, and without the names."""
    pieces = _parted(form)[1:]
    said = SEPARATOR.join([one[1:] for one in pieces if one[0] in _SAID])
    return said, " ".join([one[1:] for one in pieces if one[0] in _TOLD])


def _joined(texts: Sequence[str]) -> str:
    """Texts as one, in which they cannot run into each other."""
    whole = SEPARATOR.join(texts)
    if whole.count(SEPARATOR) >= len(texts):
        whole = SEPARATOR.join(["", *[f"{len(text)}:{text}" for text in texts]])
    return whole


def _parted(whole: str) -> list[str]:
    """The texts that were joined; the first is a name, and the second no number."""
    if not (whole.startswith(SEPARATOR) and whole[1:2].isdigit()):
        return whole.split(SEPARATOR)
    texts, at = [], 1
    while at < len(whole):
        size, _, _ = whole[at : at + 20].partition(":")
        begin = at + len(size) + 1
        at = begin + int(size) + 1
        texts.append(whole[begin : at - 1])
    return texts


def settled(args: dict[str, Any], volatile: Strings) -> dict[str, Any]:
    """The arguments of a call without what is volatile in them."""
    return {**args, **dict.fromkeys([name for name in volatile if _is_mark(args[name])], MASK)}


@lru_cache(KEPT)
def volatile_names(tool: str, *names: Any) -> Strings:
    """Those of a call's arguments that may be volatile, by their names."""
    return tuple([name for name in names if type(name) is str and _volatile(tool, name)])


def _volatile(tool: str, name: str) -> bool:
    said = letters(name)
    if said & TRIES or (said & MAKERS and said & {"id", "key", "token"}):
        return True
    return bool(said & PLACES) and reads(tool)


def _is_mark(value: Any) -> bool:
    """Whether a value is a number or one short word: no text, and nothing that has parts."""
    if type(value) is str:
        return len(value) <= SHORT and len(value.split()) <= 2
    return type(value) in (int, float)


def _words(text: str) -> list[bytes]:
    """The first words of a text, in lower case where they are ASCII, with a 0 for digits that stand
    together; behind them the rest."""
    if not text.isascii():
        text = _without_signs(text, " ")
        text = _FAR_DIGIT.sub("0", text) if any(map(str.isdecimal, _beyond_ascii(text))) else text
    flat = text.encode("utf-8", "surrogatepass").translate(_WORDS)
    while b"00" in flat:
        flat = flat.replace(b"00", b"0")
    return flat.split(None, READ)


def _beyond_ascii(text: str) -> set[str]:
    """The characters of a text that are not in ASCII."""
    return {*_bytes(text).translate(None, _ASCII).decode("utf-8", "surrogatepass")}


def _folded(text: str) -> str:
    """A text in one form, whatever the case of what is beyond ASCII. Few kinds of it have a case,
    most often. Of one that is many times as long in that form no more is read."""
    text = normalize("NFKC", text)[: WIDEST * len(text)]
    folded = [(char, low) for char in _beyond_ascii(text) if (low := char.casefold()) != char]
    if len(folded) > FEW:
        return text.casefold()
    for char, low in folded:
        text = text.replace(char, low)
    return text


def _without_signs(text: str, instead: str) -> str:
    """A text with something else for every character beyond ASCII that is in no word. Most texts
    have few kinds of them, and each is replaced by itself."""
    signs = [char for char in _beyond_ascii(text) if not char.isalnum()]
    if len(signs) > FEW:
        return _FAR.sub(instead, text)
    for sign in signs:
        text = text.replace(sign, instead)
    return text


@lru_cache(512)
def name_digest(name: str) -> str:
    """What stands for a tool's name, however long it is: four characters."""
    return _four(crc32(_bytes(name)))


def id_digest(call: str) -> str:
    """What stands for a call's id, in six characters."""
    number = crc32(call.encode("utf-8", "surrogatepass"))
    return PAIRS[number >> 24] + PAIRS[number & 0xFFF] + PAIRS[number >> 12 & 0xFFF]


def digest(*texts: str) -> str:
    """A hash of texts that cannot run into each other, in eight characters."""
    return _digest(_joined(texts))


def _digest(whole: str) -> str:
    return b2a_base64(
        sha256(whole.encode("utf-8", "surrogatepass")).digest()[:6], newline=False
    ).decode()


def alike(one: str, other: str) -> bool:
    """Whether two sketches are of texts that have most of their words in common.

    Both are in the order of one hash. Where a common word stands among the words of both texts
    together follows from its places in the two: only the first words of those together are counted.
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


def _four(number: int) -> str:
    return PAIRS[number & 0xFFF] + PAIRS[number >> 12 & 0xFFF]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")

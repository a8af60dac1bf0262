"""Weighing: whether a value is a secret of any maker, by its name, by what stands between, and by
how it looks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import log2
from operator import ne
from typing import Final

from stanchion.guards.secrets import weights as w
from stanchion.guards.secrets.likeness import entropy, stands_in
from stanchion.guards.secrets.validators import (
    CODE,
    NEIGHBOURS,
    PARTS,
    is_path,
    phrase,
    real,
    wild,
    worded,
)
from stanchion.kernel.regex import regex

HASHES: Final = frozenset({32, 40, 56, 64, 96, 128})
LONG_NAME: Final = 160

_NAME: Final = regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+\d*|[^\W\d_]+")
_HEADER: Final = regex(
    r"(?i)authorization[\"'\\]{0,2}\s*[:=]\s*[\"'\\]{0,2}(?:[\w-]+[ =]+)?[\"'\\]{0,2}$"
)
_SAID: Final = regex(r"(?i)\b(?:is|are|was|now|to|ist|lautet|est|es|sind)\b[\s\"'`*:]*$")
_ASSIGNED: Final = regex(r"[:=|>,][\s\"'`\\({\[@*]*$")
_CALLED: Final = regex(r"\([\"'`]$|[?&][\w-]{1,24}=$")
_QUOTE: Final = regex(r"[\"'`]$")
_SIGN: Final = regex(r"[^\w.-]")
_HEX: Final = regex(r"(?:0x)?[0-9A-Fa-f]+")
_UUID: Final = regex(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PLAIN: Final = regex(
    r"(?i)[a-z][a-z0-9+.-]*://.*|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|v?\d+(?:\.\d+){1,3}[\w.+-]*|"
    r"\d{4}-\d\d-\d\d.*"
    r"|(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?|[\d.,:/ -]+|(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?(?:/\S*)?"
    r"|[a-z]+(?:[_.-][a-z]+)*[_.-]?\d{0,4}|sha(?:1|256|384|512)[-:].*|\$?\d[a-z]{0,2}\$.*|"
    r"\$[\w{(].*|ENC\[.*|--?[a-z].*"
    r"|#[0-9a-f]{3,8}|arn:.*|projects/.*|op://.*|vault:.*|secret/.*|ssh-\w+"
)
"""What is something else: an address, a version, a date, a number, a word, a hash with its name, a
reference."""
_OTHER: Final = regex(r"(?i)^[a-z_][\w.]*=[^=]|passw|token|secret|(?:^|[_-])key|a-z|0-9[\]_/-]")
"""What names itself is a name, what assigns is code, and ranges of characters are a pattern."""
_WORD: Final = regex(r"[A-Z]?[a-z]{4,}|[A-Z]{4,}")
_PAIRS: Final = (
    "thheineranreonatenndtiesorteofedisitalarsttontngsehaasouiolevecomedehiriroicneearacelichllbema"
    "siomur"
    "caeltalansdifohopeecprnoctusacotiltrlyncetutsssorsunlowageiewheewiemadolrtpowenaulnitsmoowpaim"
    "miaish"
    "irsuidosiviaamficivipligtuevldrympfeblabghtyopwosaayexkefrooavagifapgrodbosprddoucbueiovbyrmep"
    "ttocfa"
    "efcurnscgidayocrcldugaquueffbaeylsvaumppuauplugohtruugdsltpircrregauckewmubrbiptakpuuirgib"
)
_COMMON: Final = frozenset([_PAIRS[at : at + 2] for at in range(0, len(_PAIRS), 2)])
"""Two letters that often stand side by side in words."""


_INSIDE: Final = regex(r"(?:\w/|:[\w-]*:)[^\s\"'=?&]*:$|<\w[^<>]*\skey=[\"'{`]*$")
"""What stands in the middle of a longer name, as that of a resource or of an image, or names an
element of a page."""


def weighed(before: str, value: str) -> bool:
    """Whether a value is a secret, given what stands before it: a name, and what is between them.
    What is remembered of a name is asked first."""
    before = before[-LONG_NAME:]
    promise, against, human, maker = promised(before)
    if (
        promise <= 0
        or against <= w.UNLIKELY
        or _INSIDE.search(before)
        or not (_made(value) or (human and _chosen(value)))
    ):
        return False
    if _PLAIN.fullmatch(value) or is_path(value) or not real(value) or stands_in(value):
        return False
    if CODE.search(value) is not None or _OTHER.search(value) is not None or phrase(value):
        return False
    return promise + _between(before, maker) + looks(value, human, promise) >= w.ENOUGH


@lru_cache(4_096)
def promised(name: str) -> tuple[float, float, bool, bool]:
    """How much a name promises a secret, what of it speaks against one, whether it is one that
    people choose, and whether a maker of keys is named."""
    words = [word.lower() for word in _NAME.findall(name)]
    words = [
        found for word, following in pairwise([*words, ""]) for found in _read(word, following)
    ]
    best, at = 0.0, -1
    for place, word in enumerate(words):
        promise = w.NAMES.get(word, w.BY_MAKER if word in w.ALONE else 0.0)
        if promise and promise >= best:
            best, at = promise, place
    if at < 0:
        return 0.0, 0.0, False, False
    more = max([w.MORE.get(word, 0.0) for word in words[max(0, at - 3) : at]], default=0.0)
    maker = not w.MAKERS.isdisjoint(words[max(0, at - 3) : at + 4])
    if maker and words[at] not in w.ALONE:
        more = max(more, w.OF_MAKER)
    against = min(
        [w.AGAINST.get(word, 0.0) for word in words[max(0, at - 3) : at + 3]], default=0.0
    )
    return best + more + against, against, words[at] in w.HUMAN, maker


def _read(word: str, following: str) -> list[str]:
    """A word of a name, and what it is at its end or with the one behind it."""
    joined = word + following
    if following and (joined in w.NAMES or joined in w.MAKERS):
        return [word, joined]
    if word in w.NAMES or word in w.AGAINST or word in w.MAKERS:
        return [word]
    word = word.rstrip("0123456789")
    if word in w.NAMES:
        return [word]
    end = next((end for end in w.ENDS if word.endswith(end) and word not in w.NO_NAMES), "")
    return [word.removesuffix(end), end] if end else [word]


def _between(before: str, maker: bool) -> float:
    quoted = w.QUOTED if _QUOTE.search(before) else 0.0
    if _HEADER.search(before):
        return w.BETWEEN["header"]
    if maker and _CALLED.search(before):
        return w.BETWEEN["called"] + quoted
    if _SAID.search(before):
        return w.BETWEEN["said"] + quoted
    return (w.BETWEEN["assigned"] if _ASSIGNED.search(before) else w.BETWEEN["beside"]) + quoted


def looks(value: str, human: bool, promise: float) -> float:
    """How much a value looks as if it were a secret."""
    if _UUID.fullmatch(value):
        return 0.75
    if _HEX.fullmatch(value):
        known = len(value.removeprefix("0x")) in HASHES and promise < 3.0
        return (
            _step(len(value), w.LONG)
            + w.HEXADECIMAL
            + (w.HASH if known else 0.0)
            + _even(value, 16)
        )
    kinds = _kinds(value)
    score = _step(len(value), w.LONG) + w.CLASSES[len(set(kinds))] + _even(value, 62)
    changes = sum(map(ne, kinds, kinds[1:])) / len(value)
    chosen = human and _chosen(value)
    score += _step(changes, w.CHANGES) + (w.CHOSEN_WORDS if chosen else w.WORDS) * _worded(value)
    score += 0.0 if "9" in kinds or _wild(value) else w.NO_DIGIT
    return score + (w.CHOSEN if chosen else 0.0)


def _made(value: str) -> bool:
    """Whether a part of it may be made by chance: no word, and no number with or without a word."""
    return any(len(part) >= 8 and (wild(part) or not worded(part)) for part in PARTS.split(value))


def _wild(value: str) -> bool:
    """Whether capitals stand among its letters as they do in no name."""
    return value != value.upper() and NEIGHBOURS.search(value) is not None


def denied(before: str) -> bool:
    """Whether a name says that what it names is no secret: a checksum, a page, a hint."""
    return bool(before) and promised(before[-LONG_NAME:])[1] <= w.DENIED


def _chosen(value: str) -> bool:
    """Whether it is a password as people choose one: of three classes, and no identifier."""
    kinds = set(_kinds(value))
    return (
        "9" in kinds
        and len(kinds) >= 3
        and len(value) <= 40
        and (_SIGN.search(value) is not None or "A" in kinds)
    )


def _even(value: str, alphabet: int) -> float:
    """How evenly its characters come, next to the most that its length and alphabet allow."""
    most = log2(min(len(value), alphabet))
    return _step(entropy(value) / most if most else 0.0, w.FLAT)


def _worded(value: str) -> float:
    """The share of its letters that stand in what may be words."""
    letters = sum(map(str.isalpha, value))
    return (
        sum([len(word) for word in _WORD.findall(value) if _pronounced(word.lower())]) / letters
        if letters
        else 0.0
    )


def _pronounced(word: str) -> bool:
    """Whether letters follow each other as they do in words."""
    pairs = [one + two for one, two in pairwise(word)]
    return sum([pair in _COMMON for pair in pairs]) >= len(pairs) * 0.65


def _kinds(value: str) -> list[str]:
    """The class of each character."""
    return [*map(_class, value)]


@lru_cache(1_024)
def _class(char: str) -> str:
    return "9" if char.isdigit() else "A" if char.isupper() else "a" if char.isalpha() else "."


def _step(figure: float, steps: Sequence[tuple[float, float]]) -> float:
    """The weight of the first step that a figure reaches."""
    return next(weight for least, weight in steps if figure >= least)

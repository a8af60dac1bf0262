"""Likeness: how much a passage reads like texts that command an agent, by a small linear model that
was trained on such texts and on honest ones (`python -m tools.signs`). It knows words, runs of
letters in them, and pairs of words."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from math import sqrt
from pkgutil import get_data
from typing import Final, NamedTuple
from zlib import crc32

import msgspec

from stanchion import typed
from stanchion.kernel.regex import regex

FILE: Final = "likeness.bin"
"""The trained weights: a line of JSON that says how they were made, and a byte a weight."""
EDGES: Final = '.!?:;"|{}<>()[]\n\r'
"""What ends a sentence, a line or a value."""
SCRIPTS: Final = r"\u3040-\u30ff\u3400-\u9fff"
"""Letters that are words by themselves."""
TOKEN: Final = regex(rf"[{SCRIPTS}]|(?:'*[^\W\d_{SCRIPTS}])+|[{re.escape(EDGES)}][\W\d_]*")
"""A letter that is a word, a word whose apostrophes do not count, or an end with all behind it that
is no letter."""
PLAIN: Final = bytes(
    [
        code if chr(code).isalpha() and code < 128 else ord("." if chr(code) in EDGES else " ")
        for code in range(256)
    ]
)
PLAIN_EDGE: Final = regex(r"\.[. ]*")
EDGE_TOKEN: Final = "."
"""The token that every text begins with, and that stands for all that end something."""
LONGEST: Final = 24
"""How much of a word counts."""
KNOWN: Final = 1 << 16
"""How many words are remembered."""
SPREAD: Final = 2_654_435_761
RUN: Final = 4
"""How many letters stand in a run; a word's ends are letters of it."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the weights were trained, and how they are read."""

    bits: int
    """Words, runs of letters and pairs of words share two to the power of so many weights."""
    width: int
    """How many tokens a passage has."""
    stride: int
    """How many tokens lie between the beginnings of two passages."""
    pad: int
    """A passage of few tokens counts as if it had so many more."""
    scale: float
    bias: float
    weak: float
    """From this likeness on a passage is a hint."""
    strong: float
    """From this likeness on hardly any honest text has one."""
    training: str
    """The checksum of the settings of the training."""
    rows: str
    """The checksum of the texts it was trained on."""


class Like(NamedTuple):
    """A passage of a text in its normal form, and how much it is like those that command."""

    start: int
    end: int
    likeness: float


class Word(NamedTuple):
    """What the model knows of one token: where its weights are, and its halves of the place of a
    pair."""

    places: tuple[int, ...]
    left: int
    right: int


def word(token: str, mask: int) -> Word:
    """What a token is to the model; all that end something are one, and weigh nothing by
    themselves."""
    edge = token[0] in EDGES
    token = EDGE_TOKEN if edge else token[:LONGEST]
    code = crc32(token.encode("utf-8", "replace"))
    places = (
        ()
        if edge
        else (
            code & mask,
            *[crc32(run.encode("utf-8", "replace"), 1) & mask for run in _runs(token)],
        )
    )
    return Word(places, (code * SPREAD >> 7) & mask, (code >> 5) & mask)


def _runs(token: str) -> list[str]:
    ended = f"<{token}>"
    return [ended[at : at + RUN] for at in range(len(ended) - RUN + 1)]


def tokens(text: str) -> list[str]:
    """The tokens of a text in its normal form, behind the edge that it begins with."""
    if text.isascii():
        plain = text.encode("ascii").translate(PLAIN, b"'").decode("ascii")
        return [EDGE_TOKEN, *PLAIN_EDGE.sub(" . ", plain).split()]
    return [
        EDGE_TOKEN,
        *[
            EDGE_TOKEN if token[0] in EDGES else token.replace("'", "")
            for token in TOKEN.findall(text)
        ],
    ]


class Model:
    """Trained weights. They never change; the words met so far are remembered."""

    def __init__(self, settings: Settings, weights: bytes) -> None:
        if len(weights) != 1 << settings.bits:
            raise ValueError(
                f"`{FILE}` has {len(weights)} weights, which is not what its settings say"
            )
        self.settings = settings
        self._weights = array("b", weights)
        self._words = _Words(self._weights, (1 << settings.bits) - 1)
        self._norms = [
            settings.scale / sqrt(size + settings.pad) for size in range(settings.width + 1)
        ]

    def most(self, text: str) -> float:
        """The likeness of the passage of a text that is most like those that command."""
        sums = self._sums(tokens(text))
        return max([self._likeness(sums, *span) for span in self._spans(len(sums) - 1)])

    def likes(self, text: str, least: float) -> list[Like]:
        """The passages of a text that are at least so much like those that command, in its
        order."""
        sums = self._sums(tokens(text))
        found = [(*span, self._likeness(sums, *span)) for span in self._spans(len(sums) - 1)]
        found = [one for one in found if one[2] >= least]
        if not found:
            return []
        places = [(0, 0), *[token.span() for token in TOKEN.finditer(text)]]
        return [
            Like(places[first][0], places[last - 1][1], likeness) for first, last, likeness in found
        ]

    def _spans(self, size: int) -> list[tuple[int, int]]:
        """Where passages begin and end, in tokens."""
        width, stride = self.settings.width, self.settings.stride
        return [
            (first, min(size, first + width))
            for first in range(0, max(1, size - width + stride), stride)
        ]

    def _likeness(self, sums: Sequence[int], first: int, last: int) -> float:
        return (sums[last] - sums[first]) * self._norms[last - first] + self.settings.bias

    def _sums(self, found: list[str]) -> list[int]:
        """The weight of all that stands before each token, and of all of them."""
        words, weights = self._words, self._weights
        parts: list[int] = []
        before = -1
        for token in found:
            own, left, right = words[token]
            parts.append(own if before < 0 else own + weights[before ^ right])
            before = left
        return list(accumulate(parts, initial=0))


class _Words(dict[str, tuple[int, int, int]]):
    """What is known of the tokens met so far: their weight, and their halves of the place of a
    pair."""

    def __init__(self, weights: Sequence[int], mask: int) -> None:
        super().__init__()
        self._weights = weights
        self._mask = mask

    def __missing__(self, token: str) -> tuple[int, int, int]:
        places, left, right = word(token, self._mask)
        if len(self) >= KNOWN:
            self.clear()
        self[token] = entry = (sum([self._weights[place] for place in places]), left, right)
        return entry


@cache
def model() -> Model:
    """The model that is shipped; read when it is first needed."""
    body = get_data(__package__, FILE)
    assert body is not None
    head, _, weights = body.partition(b"\n")
    return Model(typed.decode(head, Settings), weights)

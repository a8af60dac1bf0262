"""Arrays: texts as numbers, so that all passages of all of them are scored at once."""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from stanchion.readings.hostile.likeness import LikenessWord, tokens, word
from tools.signs.texts import Text

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
NOTHING: Final = -20.0
"""The likeness of a text without passages."""


class Shape(msgspec.Struct, frozen=True):
    """How a text is cut and hashed."""

    bits: int = 17
    width: int = 24
    stride: int = 12
    pad: int = 8


class Arrays(msgspec.Struct, frozen=True):
    """All tokens of all texts one after the other: the places of their weights, and the
    passages."""

    size: int
    """How many weights there are."""
    words: Ints
    """The number of the word of each token."""
    pairs: Ints
    own: Ints
    """The weights of all words one after the other, and `word` the number of the word of each."""
    word: Ints
    first: Ints
    last: Ints
    norm: Floats
    of: Ints
    """The text of each passage."""
    begins: Ints
    """The first passage of each text; the number of passages is the last."""


def arrays(some: list[Text], shape: Shape) -> Arrays:
    """Texts as numbers."""
    nowhere, mask = 1 << shape.bits, (1 << shape.bits) - 1
    words: list[int] = []
    pairs: list[int] = []
    first: list[int] = []
    last: list[int] = []
    of: list[int] = []
    known: dict[str, tuple[int, LikenessWord]] = {}
    for place, one in enumerate(some):
        start = len(words)
        before = -1
        for token in tokens(one.said):
            if token not in known:
                known[token] = (len(known), word(token, mask))
            number, here = known[token]
            words.append(number)
            pairs.append(nowhere if before < 0 else before ^ here.right)
            before = here.left
        count = len(words) - start
        for begin in range(0, max(1, count - shape.width + shape.stride), shape.stride):
            first.append(start + begin)
            last.append(start + min(count, begin + shape.width))
            of.append(place)
    weighed = [(number, place) for number, here in known.values() for place in here.places]
    sizes = np.array(last, np.int64) - np.array(first, np.int64)
    return Arrays(
        nowhere,
        np.array(words, np.int64),
        np.array(pairs, np.int64),
        np.array([place for _, place in weighed], np.int64),
        np.array([number for number, _ in weighed], np.int64),
        np.array(first, np.int64),
        np.array(last, np.int64),
        1 / np.sqrt(sizes + float(shape.pad)),
        np.array(of, np.int64),
        np.searchsorted(np.array(of, np.int64), np.arange(len(some) + 1)).astype(np.int64),
    )


def passages(data: Arrays, weights: Floats, bias: float) -> Floats:
    """The likeness of every passage."""
    whole = np.append(weights, 0.0)
    each = (
        np.bincount(data.word, whole[data.own], data.words.max() + 1)[data.words]
        + whole[data.pairs]
    )
    sums = np.concatenate(([0.0], np.cumsum(each)))
    return np.asarray((sums[data.last] - sums[data.first]) * data.norm + bias)


def most(data: Arrays, scores: Floats) -> tuple[Floats, Ints]:
    """For each text the likeness of its most telling passage, and which that is."""
    best = np.maximum.reduceat(scores, data.begins[:-1])
    places = np.nonzero(scores == best[data.of])[0]
    _, where = np.unique(data.of[places], return_index=True)
    return best, places[where].astype(np.int64)


def slopes(data: Arrays, pulls: Floats) -> Floats:
    """How the loss changes with each weight, if it changes so much with each passage's likeness."""
    count = len(data.words)
    pulled = pulls * data.norm
    each = np.cumsum(
        np.bincount(data.first, pulled, count + 1) - np.bincount(data.last, pulled, count + 1)
    )[:count]
    by_word = np.bincount(data.words, each, data.words.max() + 1)
    found = np.bincount(data.own, by_word[data.word], data.size + 1) + np.bincount(
        data.pairs, each, data.size + 1
    )
    return np.asarray(found[:-1])

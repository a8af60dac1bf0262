"""How alike a text is to hostile ones: by its words, by its signs and by both."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from math import exp, sqrt
from pkgutil import get_data
from typing import Any, Final, NamedTuple
from zlib import crc32

import msgspec

from stanchion import typed
from stanchion.kernel.regex import regex
from stanchion.readings.hostile.normal import folded
from stanchion.readings.hostile.signs import Sign, signs
from stanchion.readings.hostile.views import compiled, first_view, whole

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
LONGEST_TOKEN: Final = 24
"""How much of a word counts."""
KNOWN: Final = 1 << 16
"""How many words are remembered."""
SPREAD: Final = 2_654_435_761
RUN: Final = 4
"""How many letters stand in a run; a word's ends are letters of it."""


class LikenessSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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


class LikenessWord(NamedTuple):
    """What the model knows of one token: where its weights are, and its halves of the place of a
    pair."""

    places: tuple[int, ...]
    left: int
    right: int


def word(token: str, mask: int) -> LikenessWord:
    """What a token is to the model; all that end something are one, and weigh nothing by
    themselves."""
    edge = token[0] in EDGES
    token = EDGE_TOKEN if edge else token[:LONGEST_TOKEN]
    code = crc32(token.encode("utf-8", "replace"))
    places = (
        ()
        if edge
        else (
            code & mask,
            *[crc32(run.encode("utf-8", "replace"), 1) & mask for run in _runs(token)],
        )
    )
    return LikenessWord(places, (code * SPREAD >> 7) & mask, (code >> 5) & mask)


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


class LikenessModel:
    """Trained weights. They never change; the words met so far are remembered."""

    def __init__(self, settings: LikenessSettings, weights: bytes) -> None:
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
def model() -> LikenessModel:
    """The model that is shipped; read when it is first needed."""
    body = get_data(__package__, FILE)
    assert body is not None
    head, _, weights = body.partition(b"\n")
    return LikenessModel(typed.decode(head, LikenessSettings), weights)


VERSION: Final = "1"
"""The version of the weights below."""
BIAS: Final = -0.533
LIKENESS: Final = 0.619
STEPS: Final = (2.324, 2.016, 0.614, 0.416)
"""What each further point of weight adds that the signs of a text have together, each kind by its
heaviest; more than four add nothing."""
LONGEST: Final = 100_000
"""How many characters of a text are read."""


def chance(text: str) -> float:
    """The chance, from 0 to 1, that a text tries to command an agent that reads it."""
    text = text[:LONGEST]
    weights: dict[str, int] = {}
    for sign in signs(text):
        weights[sign.kind] = max(sign.weight, weights.get(sign.kind, 0))
    likeness = model().most(first_view(text).text)
    return chance_of(sum(weights.values()), likeness)


def chance_of(weight: int, likeness: float) -> float:
    """The chance by the weight of the signs together, and by the likeness."""
    score = BIAS + LIKENESS * likeness + sum(STEPS[: max(0, weight)])
    return round(1 / (1 + exp(-max(-50.0, min(50.0, score)))), 4)


KIND: Final = "likeness"
SHORTEST: Final = 16
"""What is shorter is too little to be like anything."""
TELLING: Final = (
    r"ai|assistants?|chatbot|\w*gpt|bot|llm|agent|openai|answers?|answering|reply|replies|"
    r"responses?|respond"
    r"|instructions?|prompts?|rules|guidelines|policy|policies|restrictions|ignore|disregard|"
    r"forget|override|bypass"
    r"|pretend|pretending|roleplay|role|simulate|imagine|persona|character|passwords?|passphrase|"
    r"secret|confidential"
    r"|act|transfer|send|delete|email"
)
"""Nearly every text that commands an agent has one of these words. What has none, all in plain
letters, is not scored."""


@cache
def _telling() -> Any:
    return compiled(rf"\b(?:{TELLING})\b|[^\x00-\x7f]{{2}}")


def may_be_alike(texts: Sequence[str]) -> bool:
    """Whether one of several texts has a passage that is strongly like those that command."""
    if _telling().search(folded(whole("\n".join(texts)))) is None:
        return False
    known = model()
    return any(_is_strong(known, folded(whole(text))) for text in texts if len(text) >= SHORTEST)


def _is_strong(known: LikenessModel, text: str) -> bool:
    return _telling().search(text) is not None and known.most(text) >= known.settings.strong


def alike(text: str, known: LikenessModel | None = None) -> list[Sign]:
    """The passages of a text that are like those that command, in its order: a hint weighs one, a
    strong one two."""
    view = first_view(text)
    if len(view.text) < SHORTEST or _telling().search(view.text) is None:
        return []
    known = model() if known is None else known
    strong = known.settings.strong
    found: list[Sign] = []
    for like in joined(known.likes(view.text, known.settings.weak)):
        found.append(
            Sign(*view.back(like.start, like.end), KIND, 2 if like.likeness >= strong else 1)
        )
    return found


def joined(likes: list[Like]) -> list[Like]:
    """Passages that overlap as one, as much alike as the most alike of them."""
    found: list[Like] = []
    for like in likes:
        if found and like.start <= found[-1].end:
            before = found.pop()
            like = Like(
                before.start, max(before.end, like.end), max(before.likeness, like.likeness)
            )
        found.append(like)
    return found

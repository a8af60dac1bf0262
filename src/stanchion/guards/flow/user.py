"""The user: what was said, sentence by sentence, and which work was handed to what others wrote."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from stanchion.kernel.regex import regex
from stanchion.readings.prose.asking import changes, only_reads, sentences, wanted
from stanchion.readings.prose.lexicon import Mark, known, stems, words
from stanchion.readings.prose.phrases import HANDED, QUESTIONS
from stanchion.readings.prose.values import Value, squash, values

HANDS: Final = regex("|".join(HANDED), re.IGNORECASE)
ASKS_BACK: Final = regex(QUESTIONS, re.IGNORECASE)
QUOTED: Final = regex(r"(?<!\w)['\"‘“]([^'\"’”\n]{2,60})['\"’”](?!\w)")
MOST: Final = 2_000
KEPT: Final = 4_096
"""How many sentences are remembered, and of how many values whether they are in them."""
WEB: Final = f"{Mark.TEXT}2"
"""The kind of what is on the web."""
PAYS: Final = frozenset({f"{Mark.SAID}0", f"{Mark.MEANT}0"})
"""The frame of everyday requests that move money."""
PIECE: Final = 4
"""From how many letters and digits on a value may be a part of the user's words."""


class Words(NamedTuple):
    """Words by which somebody may point at something: stems, values, the kinds of text they name,
    and as they stand; and the verbs by which they want something."""

    stems: frozenset[str]
    values: frozenset[Value]
    kinds: frozenset[str]
    lower: str
    verbs: frozenset[str] = frozenset()
    quotes: bool = False
    """Whether they name something in quotes."""


@lru_cache(65_536)
def is_kind(word: str) -> bool:
    """Whether a word only names a kind of text."""
    return any(mark[0] == Mark.TEXT for mark in known(word).marks)


def kinds_of(stemmed: frozenset[str]) -> frozenset[str]:
    """The kinds of text that words name."""
    return frozenset(
        [mark for word in stemmed for mark in known(word).marks if mark[0] == Mark.TEXT]
    )


def _quotes(text: str) -> bool:
    return any(not values(quoted) for quoted in QUOTED.findall(text))


def pointing(text: str) -> Words:
    """A text as words that may point at something."""
    found = stems(text)
    return Words(
        found,
        frozenset([value for value in values(text) if value.kind != "num"]),
        kinds_of(found),
        text.lower(),
        wanted(text),
        _quotes(text),
    )


class User:
    """What the user said so far. `version` grows with every word."""

    def __init__(self) -> None:
        self.version = 0
        self.requests: list[Words] = []
        self.neighbours: list[Words] = []
        """Each request with the sentence before it and the one behind."""
        self.handed: list[Words] = []
        self.all = Words(frozenset(), frozenset(), frozenset(), "")
        self.normal = " "
        self.squashed = ""
        self._shown: list[str] = []
        self.changes = False
        """Whether something is said to be otherwise than before."""
        self.pays = False
        """Whether money is spoken of."""
        self.verbs: frozenset[str] = frozenset()
        """The verbs of all requests."""
        self._looks: bool | None = None
        self._has: dict[Value, bool] = {}

    @property
    def spoke(self) -> bool:
        """Whether anything was said."""
        return bool(self.requests)

    @property
    def only_reads(self) -> bool:
        """Whether all that was said wants nothing but to be told something."""
        return self._looks is True and not self.handed

    def shown(self, most: int) -> list[str]:
        """The first things that were said."""
        return self._shown[:most]

    def say(self, text: str, own: bool = True) -> None:
        """Something is said by the user, or by a text that the user handed the work to."""
        said = sentences(text)[: max(0, MOST - len(self.requests))]
        self.version += 1
        self._take(text)
        requests = [pointing(each) for each in said]
        self.requests += requests
        self.verbs = self.verbs.union(*[request.verbs for request in requests])
        self.neighbours += [
            pointing(" ".join(said[max(0, at - 1) : at + 2])) for at in range(len(said))
        ]
        if not own:
            return
        self._shown += said
        self.changes = self.changes or changes(text)
        self.pays = self.pays or any(PAYS & known(word).marks for word in stems(text))
        before = ""
        for each in said:
            looks = only_reads(each)
            if looks is not None and self._looks is not False:
                self._looks = looks
            if not looks and HANDS.search(each) and not ASKS_BACK.search(each):
                self.handed.append(pointing(f"{before} {each}"))
            before = each

    def _take(self, text: str) -> None:
        found = pointing(text)
        self.all = Words(
            self.all.stems | found.stems,
            self.all.values | found.values,
            self.all.kinds | found.kinds,
            f"{self.all.lower}\n{found.lower}",
        )
        self._has.clear()
        self.normal = f"{self.normal}| {' '.join(words(text))} "
        self.squashed = f"{self.squashed}|{squash(text)}"

    def has(self, value: Value) -> bool:
        """Whether a value is the user's own."""
        known = self._has.get(value)
        if known is None:
            if len(self._has) >= KEPT:
                self._has.clear()
            known = self._has[value] = self._says(value)
        return known

    def _says(self, value: Value) -> bool:
        if value in self.all.values:
            return True
        if value.kind in ("text", "num"):
            return (
                f" {value.text} " in self.normal
                or f" {value.text.replace('.', ' ')} " in self.normal
            )
        piece = value.text if value.kind == "code" else squash(value.text)
        return len(piece) >= PIECE and piece in self.squashed

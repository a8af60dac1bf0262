"""Signs that a text tries to command the agent that reads it: what kind, how telling, and where."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from stanchion.kernel.regex import regex
from stanchion.readings.hostile.normal import MIXED, TAGS, UNSEEN, folded, odd
from stanchion.readings.hostile.views import (
    SieveEntry,
    TextView,
    first_view,
    further_views,
    sifted,
    whole,
)
from stanchion.readings.word_lists import in_order

KINDS: Final = in_order(
    "override demand address task turn claim secrecy dictation order request reply probe "
    "carrier hidden disguise likeness"
)  # fmt: skip
"""All kinds of signs."""


class Sign(NamedTuple):
    """Characters of a text that try to command, and how: a hint weighs one, what no honest text
    says two."""

    start: int
    end: int
    kind: str
    weight: int


QUOTES: Final = "\"'`“”‘’«»"
TOLD: Final = regex(
    r"(?:\b(?:i|we|they|who|that|which|can|should|could|would|may|might|not|never|don't|how|when|"
    r"why|cannot|can't|or"
    r"|attackers?|users?|people|models?)|^to|(?<!you)(?<!need)(?<!have)(?<!asked)(?<!told)"
    r"(?<!required)\sto)\s+$"
)
"""What stands before words that are told of and not said."""
OWN: Final = regex(
    r"\bmy (?:previous|prior|earlier|last|other|first) "
    r"(?:message|e-?mail|mail|note|comment|question|text|post)\b"
)
OFFERED: Final = regex(
    r"\b(?:bugs?|issues?|patch(?:es)?|feedback|comments?|questions?|suggestions?|vulnerabilit(?:y|"
    r"ies)"
    r"|(?:bug|feature|pull)[- ](?:report|request)s?)\b"
)
"""What projects ask everyone to send them."""
TAKEN: Final = regex(
    r"\b(?:files?|passwords?|secrets?|keys?|tokens?|credentials?|inbox|contents?|history|data|"
    r"records?|documents?"
    r"|money|conversations?|messages?)\b"
)
"""What nobody asks everyone to send."""
HIDING: Final = regex(
    r"<!--.*?(?:-->|$)|\[//\]: ?# ?\(.*?(?:\)|$)"
    r"|<[a-z][^<>]{0,400}(?:display\s?:\s?none|visibility\s?:\s?hidden|"
    r"font-size\s?:\s?0(?!\.?[1-9])"
    r"|opacity\s?:\s?0(?!\.?[1-9])|color\s?:\s?(?:white\b|#fff(?:fff)?\b))[^<>]{0,400}>[^<]{0,4000}"
)
"""What a page does not show."""
SPELT: Final = regex(
    "\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f|([\U000e0020-\U000e007e]{4,})"
)
"""Letters that nobody sees, apart from those of a flag."""
BIDI: Final = regex("[\u202d\u202e](?:[^\u202d\u202e]{0,16}[\u202d\u202e])*")
"""Characters that turn the order of others round; those that stand close to each other are one
sign."""


def suspicious(texts: Sequence[str]) -> bool:
    """Whether one of several texts can have signs: all of them are looked at in one pass."""
    text = "\n".join([one.replace("\n", "\r") for one in texts])
    seen = folded(whole(text))
    found = sifted(seen)
    if not found and text.isascii():
        return False
    if _any(seen, found) or (not text.isascii() and _unseen(text)):
        return True
    disguises = _disguises(found)
    if not disguises:
        return False
    views = further_views(text, TextView(seen, lambda start, end: (start, end)), disguises)
    return any(_any(view.text, sifted(view.text)) for view in views)


def _any(text: str, entries: list[SieveEntry]) -> bool:
    return any(entry.weight and entry.is_in(text) for entry in entries)


def signs(text: str) -> list[Sign]:
    """The signs in a text, in its order."""
    first = first_view(text)
    entries = sifted(first.text)
    found = list(_in_view(first, entries))
    if not text.isascii():
        found += [
            Sign(*sign[:2], "disguise", 1)
            for sign in found
            if _disguised(text[sign.start : sign.end])
        ]
        found += [
            Sign(*spelt.span(1), "hidden", 2) for spelt in SPELT.finditer(text) if spelt.group(1)
        ]
        found += [Sign(*turn.span(), "hidden", 1) for turn in BIDI.finditer(text)]
    disguises = _disguises(entries)
    for view in further_views(text, first, disguises):
        known = _Known(found)
        for sign in _in_view(view, sifted(view.text)):
            if not known.has(sign):
                found += [sign, Sign(*sign[:2], "disguise", 1)] if view.odd else [sign]
    if found and "hidden" in disguises:
        begins = sorted([sign.start for sign in found])
        for span in HIDING.finditer(first.text):
            start, end = first.back(*span.span())
            if bisect_right(begins, start) < bisect_left(begins, end):
                found.append(Sign(start, end, "hidden", 1))
    return sorted(set(found))


class _Known:
    """Which signs are known, so that another view of them says nothing new."""

    def __init__(self, found: list[Sign]) -> None:
        self._ends: dict[str, tuple[list[int], list[int]]] = {}
        for sign in sorted(found):
            begins, ends = self._ends.setdefault(sign.kind, ([], []))
            begins.append(sign.start)
            ends.append(max(sign.end, ends[-1] if ends else 0))

    def has(self, sign: Sign) -> bool:
        """Whether a sign of the same kind is known that overlaps this one."""
        begins, ends = self._ends.get(sign.kind, ([], []))
        at = bisect_left(begins, sign.end)
        return at > 0 and ends[at - 1] > sign.start


def _disguises(entries: list[SieveEntry]) -> frozenset[str]:
    return frozenset([entry.kind for entry in entries if not entry.weight])


def _in_view(view: TextView, entries: list[SieveEntry]) -> Iterator[Sign]:
    for entry in entries:
        if entry.weight:
            for start, end in entry.spans(view.text):
                weight = 1 if _is_hint(entry.kind, view.text, start, end) else entry.weight
                yield Sign(*view.back(start, end), entry.kind, weight)


def _is_hint(kind: str, text: str, start: int, end: int) -> bool:
    """Whether honest texts say this as well: they tell of what attacks say, or ask for reports and
    patches."""
    if kind == "order":
        return (
            OFFERED.search(text, start, end) is not None and TAKEN.search(text, start, end) is None
        )
    return kind == "override" and _told(text, start, end)


def _told(text: str, start: int, end: int) -> bool:
    """Whether words are only told of: in quotes by themselves, as what somebody may do, or of one's
    own words."""
    if start and text[start - 1] in QUOTES and any(mark in QUOTES for mark in text[end : end + 2]):
        return True
    return (
        TOLD.search(text[max(0, start - 40) : start]) is not None
        or OWN.search(text, start, end) is not None
    )


def _disguised(text: str) -> bool:
    return bool(UNSEEN.search(text) or TAGS.search(text) or MIXED.search(text.casefold()))


def _unseen(text: str) -> bool:
    return any(char in "\u202d\u202e" or "\U000e0020" <= char <= "\U000e007e" for char in odd(text))

"""Another form of a text, or of a part of it, and where in the text each part of that form
stands."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from typing import NamedTuple

Back = Callable[[int, int], tuple[int, int]]
"""Gives where characters of one text stand in another: the first of them, and the end behind the
last."""


class Said(NamedTuple):
    """What a text says in another form. `span` tells where a part of it stands; `whole` says that
    it is the text itself, so that what stands beside something in one stands beside it in the
    other; `cuts` are the places where pieces were put together that may not belong together."""

    text: str
    span: Back
    whole: bool = False
    cuts: tuple[int, ...] = ()

    def inside(self, outer: Said) -> Said:
        """The same, where the text that it was made of is another form already."""
        mine, theirs = self.span, outer.span
        return Said(
            self.text,
            lambda first, last: theirs(*mine(first, last)),
            self.whole and outer.whole,
            self.cuts,
        )

    def across(self, first: int, last: int) -> bool:
        """Whether characters reach over a place where pieces were put together."""
        at = bisect_right(self.cuts, first)
        return at < len(self.cuts) and self.cuts[at] < last


def rewritten(
    text: str, places: Iterable[tuple[int, int]], say: Callable[[str], str | None], first: int = 0
) -> Said:
    """A text in which what stands in some places is replaced by what it says; where that is nothing
    known, it stays. `first` is added to every place."""
    pieces: list[str] = []
    here: list[int] = [0]
    there: list[int] = [first]
    kept = size = 0
    cuts: list[int] = []
    for start, end in places:
        said = say(text[start:end])
        if said is None:
            continue
        pieces += [text[kept:start], said]
        size += start - kept
        cuts.append(size)
        if len(said) != end - start:
            # Where one character stands for one, places go on as in what is kept.
            here += [size, size + len(said)]
            there += [first + start, first + end]
        size += len(said)
        kept = end
    pieces.append(text[kept:])
    return Said("".join(pieces), _places(here, there), whole=True, cuts=tuple(cuts))


def unfolded(
    text: str, odd: re.Pattern[str], say: Callable[[str], str | None], first: int = 0
) -> Said | None:
    """A text in which everything odd is replaced by what it says; `None` where nothing is. Where
    its parts stood is worked out when somebody asks."""

    known: dict[str, str] = {}

    def said(found: re.Match[str]) -> str:
        sign = found[0]
        made = known.get(sign)
        if made is None:
            heard = say(sign)
            made = known[sign] = sign if heard is None else heard
        return made

    made = odd.sub(said, text)
    if made == text:
        return None
    spans: list[Back] = []

    def span(one: int, two: int) -> tuple[int, int]:
        if not spans:
            places = [found.span() for found in odd.finditer(text)]
            spans.append(rewritten(text, places, say, first).span)
        return spans[0](one, two)

    return Said(made, span, whole=True)


def _places(here: list[int], there: list[int]) -> Back:
    """Where characters stand, given where pieces begin in both texts: by turns what was kept, and
    what was replaced."""

    def span(first: int, last: int) -> tuple[int, int]:
        at = bisect_right(here, first) - 1
        start = there[at] + (0 if at % 2 else first - here[at])
        at = bisect_left(here, last) - 1
        end = there[at + 1] if at % 2 else there[at] + last - here[at]
        return start, end

    return span

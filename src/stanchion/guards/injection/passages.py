"""Passages: the parts of a text in which several signs together say that it tries to command an
agent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from stanchion.kernel.regex import regex
from stanchion.readings.hostile.signs import Sign
from stanchion.readings.word_lists import listed

NEAR: Final = 400
"""Signs that are further apart than so many characters have nothing to do with each other."""
BACK: Final = 200
"""How far before its first sign a passage may begin."""
ON: Final = 1_000
"""How far behind its last sign a passage may go on."""
LEADING: Final = listed("override demand address task turn claim secrecy")
"""Signs that lead up to what is wanted: it stands behind them."""

SENTENCE: Final = regex(r"(?<=[.!?])\s|\n\s*\n|$")
PARAGRAPH: Final = regex(r"\n\s*\n|<\|im_end\|>|\[/INST\]|-->|$", re.IGNORECASE)
BEGIN: Final = regex(r"[.!?]\s+|\n+\s*")


class Passage(NamedTuple):
    """A part of a text, and the kinds of signs in it."""

    start: int
    end: int
    kinds: tuple[str, ...]


def passages(text: str, signs: Sequence[Sign], score: int) -> list[Passage]:
    """The passages of a text whose signs weigh so much together: each kind counts once, by its
    heaviest sign."""
    found: list[Passage] = []
    for group in _groups(signs):
        weights: dict[str, int] = {}
        for sign in group:
            weights[sign.kind] = max(sign.weight, weights.get(sign.kind, 0))
        if sum(weights.values()) >= score:
            start, end = _bounds(text, group)
            kinds = tuple(dict.fromkeys([sign.kind for sign in group]))
            if found and start < found[-1].end:
                before = found.pop()
                kinds = tuple(dict.fromkeys([*before.kinds, *kinds]))
                start, end = before.start, max(end, before.end)
            found.append(Passage(start, end, kinds))
    return found


def _groups(signs: Sequence[Sign]) -> Iterator[list[Sign]]:
    group: list[Sign] = []
    end = 0
    for sign in signs:
        if group and sign.start > end + NEAR:
            yield group
            group = []
        group.append(sign)
        end = max(end, sign.end) if len(group) > 1 else sign.end
    if group:
        yield group


def _bounds(text: str, group: Sequence[Sign]) -> tuple[int, int]:
    """Where a passage begins and ends: at the sentences of its first and last sign; what the last
    one leads up to is a part of it."""
    start = group[0].start
    first = 0 if start <= BACK else start
    for begin in BEGIN.finditer(text, max(0, start - BACK), start):
        first = begin.end()
    end = max([sign.end for sign in group])
    leads = any(sign.end == end and sign.kind in LEADING for sign in group)
    rest = (PARAGRAPH if leads else SENTENCE).search(text, end, end + ON)
    return first, len(text) if rest is None else rest.start()

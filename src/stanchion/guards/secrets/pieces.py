"""Secrets in pieces: what is one only where items of a list are read without the gap between
them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from itertools import chain
from typing import Final

from stanchion.guards.secrets.finder import Finder
from stanchion.kernel.regex import regex
from stanchion.readings.texts import Leaf, Span

SHORTEST: Final = 20
"""What is shorter with all its pieces is no secret that is known by its looks."""
LONGEST: Final = 1_024
"""How much of an item is read."""
MOST_PIECES: Final = 3
MOST: Final = 8_192
"""How many characters are read once more because of their neighbours."""

_TAIL: Final = regex(r"[\w+/=.~-]{2,}\Z", re.ASCII)
_DIGIT: Final = regex(r"\d", re.ASCII)
_HEAD: Final = regex(r"[\w+/=.~-]{2,}", re.ASCII)

Spans = Sequence[Sequence[Span]]
Piece = tuple[int, int, str]
"""Which text it is of, where it begins there, and its characters."""


def in_pieces(
    finder: Finder, leaves: Sequence[Leaf], spans: Spans | None
) -> list[list[Span]] | None:
    """The parts of secrets in each text that only together are one; `None` where there are none.
    What was found in a text by itself stays what it is."""
    items = [leaf.text for leaf in leaves if leaf.path and type(leaf.path[-1]) is int]
    if len(items) < 2 or not any(_DIGIT.search(text) for text in items):
        return None
    rows: list[list[Piece]] = []
    most = MOST
    for window in chain.from_iterable(map(_windows, _rows(leaves, spans, finder.told))):
        rows.append(window)
        most -= sum([len(text) for _, _, text in window])
        if most <= 0:
            break
    if not rows:
        return None
    found = finder.look(["".join([text for _, _, text in row]) for row in rows], decode=False)
    if found is None:
        return None
    parts: list[list[Span]] = [[] for _ in leaves]
    for row, here in zip(rows, found, strict=True):
        for span in here:
            for number, part in _cut(row, span):
                parts[number].append(part)
    return parts if any(parts) else None


def _windows(row: list[Piece]) -> Iterator[list[Piece]]:
    """The neighbours in a row that may be one secret: few, long enough together, and with a
    digit."""
    for size in range(2, MOST_PIECES + 1):
        for at in range(len(row) - size + 1):
            window = row[at : at + size]
            if sum([len(text) for _, _, text in window]) >= SHORTEST and any(
                _DIGIT.search(one[2]) for one in window
            ):
                yield window


def _rows(leaves: Sequence[Leaf], spans: Spans | None, told: Set[str]) -> Iterator[list[Piece]]:
    """The pieces that stand next to each other in one list, with nothing between them that no
    secret has."""
    row: list[Piece] = []
    for at in range(1, len(leaves)):
        before, leaf = leaves[at - 1], leaves[at]
        joins = _follows(before, leaf) and not (
            spans is not None and (_known(spans[at - 1], told) or _known(spans[at], told))
        )
        tail = _TAIL.search(before.text) if joins else None
        head = _HEAD.match(leaf.text) if tail is not None else None
        if tail is None or head is None:
            if row:
                yield row
            row = []
            continue
        row = (
            row
            if row
            else [(at - 1, len(before.text) - min(len(tail[0]), LONGEST), tail[0][-LONGEST:])]
        )
        row.append((at, 0, head[0][:LONGEST]))
        if len(head[0]) < len(leaf.text):
            yield row
            row = []
    if row:
        yield row


def _known(here: Sequence[Span], told: Set[str]) -> bool:
    """Whether a text has a secret of a known format by itself: that is whole. What is only `told`
    may go on."""
    return any(span.kind not in told for span in here)


def _follows(before: Leaf, leaf: Leaf) -> bool:
    """Whether a text is the item behind another one in one list."""
    if (
        not leaf.path
        or not before.path
        or leaf.named
        or before.named
        or leaf.number
        or before.number
    ):
        return False
    place, last = leaf.path[-1], before.path[-1]
    return (
        isinstance(place, int)
        and isinstance(last, int)
        and place == last + 1
        and leaf.path[:-1] == before.path[:-1]
    )


def _cut(row: Sequence[Piece], span: Span) -> Iterator[tuple[int, Span]]:
    """A secret cut where its pieces are; nothing where it stands in one of them alone."""
    parts: list[tuple[int, Span]] = []
    at = 0
    for number, start, text in row:
        first, last = max(span.start, at), min(span.end, at + len(text))
        if first < last:
            parts.append((number, Span(start + first - at, start + last - at, span.kind)))
        at += len(text)
    return iter(parts) if len(parts) > 1 else iter(())

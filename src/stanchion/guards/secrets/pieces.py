"""Secrets that come in pieces, in names, or in a text that goes on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence, Set
from functools import cache
from itertools import chain
from typing import Final

from stanchion.guards.secrets.finder import SecretFinder
from stanchion.guards.secrets.likeness import half_redaction, redactions
from stanchion.guards.secrets.told import not_allowed
from stanchion.kernel.names import Names
from stanchion.kernel.regex import regex
from stanchion.readings.cover import Cover
from stanchion.readings.disguise.views import LONGEST, last_run, runs
from stanchion.readings.scan import CONTEXT, Hit
from stanchion.readings.texts import TextLeaf, TextSpan

SHORTEST: Final = 20
"""What is shorter with all its pieces is no secret that is known by its looks."""
LONGEST_PIECE: Final = 1_024
"""How much of an item is read."""
MOST_PIECES: Final = 3
MOST: Final = 8_192
"""How many characters are read once more because of their neighbours."""

_TAIL: Final = regex(r"[\w+/=.~-]{2,}\Z", re.ASCII)
_DIGIT: Final = regex(r"\d", re.ASCII)
_HEAD: Final = regex(r"[\w+/=.~-]{2,}", re.ASCII)

Spans = Sequence[Sequence[TextSpan]]
Piece = tuple[int, int, str]
"""Which text it is of, where it begins there, and its characters."""


def in_pieces(
    finder: SecretFinder, leaves: Sequence[TextLeaf], spans: Spans | None
) -> list[list[TextSpan]] | None:
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
    parts: list[list[TextSpan]] = [[] for _ in leaves]
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


def _rows(leaves: Sequence[TextLeaf], spans: Spans | None, told: Set[str]) -> Iterator[list[Piece]]:
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
            else [
                (
                    at - 1,
                    len(before.text) - min(len(tail[0]), LONGEST_PIECE),
                    tail[0][-LONGEST_PIECE:],
                )
            ]
        )
        row.append((at, 0, head[0][:LONGEST_PIECE]))
        if len(head[0]) < len(leaf.text):
            yield row
            row = []
    if row:
        yield row


def _known(here: Sequence[TextSpan], told: Set[str]) -> bool:
    """Whether a text has a secret of a known format by itself: that is whole. What is only `told`
    may go on."""
    return any(span.kind not in told for span in here)


def _follows(before: TextLeaf, leaf: TextLeaf) -> bool:
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


def _cut(row: Sequence[Piece], span: TextSpan) -> Iterator[tuple[int, TextSpan]]:
    """A secret cut where its pieces are; nothing where it stands in one of them alone."""
    parts: list[tuple[int, TextSpan]] = []
    at = 0
    for number, start, text in row:
        first, last = max(span.start, at), min(span.end, at + len(text))
        if first < last:
            parts.append((number, TextSpan(start + first - at, start + last - at, span.kind)))
        at += len(text)
    return iter(parts) if len(parts) > 1 else iter(())


def cuts(finder: SecretFinder, text: str, decode: bool) -> Callable[[int], int]:
    """Gives, for each place of a text that goes on, the last one up to it where it may be cut: what
    stands before is judged alike, alone and with whatever follows, and nothing that is found, no
    run that is decoded and no redaction reaches over it."""
    settled = min(finder.scanner.open_at(text), half_redaction(text))
    whole = redactions(text)
    if decode:
        last = last_run(text)
        settled = min(settled, last if len(text) - last <= LONGEST else settled)
        # Of a run that is too long to be decoded so much has to stand together that it is known to
        # be.
        whole += [(first, min(last, first + LONGEST + 1)) for first, last in runs(text)]
    hits = finder.scanner.scan(text)
    # The characters around what a pattern means only have to be seen with it: of one on either side
    # the place behind it is as good as the one before.
    cover = Cover([*whole, *[(min(h.start, h.first + 1), max(h.end, h.last - 1)) for h in hits]])

    @cache
    def back(at: int) -> int:
        at = cover.clear(min(at, settled))
        while (lower := _changed(finder, hits, text, at)) < at:
            at = cover.clear(lower)
        return at

    return back


def _changed(finder: SecretFinder, hits: list[Hit], text: str, at: int) -> int:
    """Where the first hit begins that a text has only if it is cut at a place, or only if not; that
    place where there is none. No more is read for it than a match is long."""
    first = max(0, at - CONTEXT)
    alone = {
        (hit.pattern, hit.start + first, hit.end + first): hit.first + first
        for hit in finder.scanner.scan(text[first:at])
        if hit.last + first >= at - 1
    }
    known = {
        (hit.pattern, hit.start, hit.end): hit.first
        for hit in hits
        if hit.end <= at <= hit.last + 1
    }
    return min([(alone | known)[key] for key in alone.keys() ^ known.keys()], default=at)


LONGEST_NAME: Final = 512
"""A longer name is not read piece by piece."""
LONG_PIECE: Final = 12
"""What is shorter between two underscores is a word."""
MOST_PARTS: Final = 12


def in_name(finder: SecretFinder, name: str, decode: bool, allowed: Names) -> list[TextSpan]:
    """The secrets of a name, in order, none within another. To patterns an underscore is a letter,
    and in names it joins words: what stands between any two of them is read by itself as well."""
    pieces = [(0, name), *(_pieces(name) if len(name) <= LONGEST_NAME else ())]
    found = finder.look([text for _, text in pieces], decode)
    if found is None:
        return []
    spans = [
        TextSpan(at + span.start, at + span.end, span.kind, span.called)
        for (at, text), here in zip(pieces, found, strict=True)
        for span in not_allowed(text, here, allowed, ())
    ]
    merged: list[TextSpan] = []
    for span in sorted(spans, key=lambda one: (one.start, -one.end)):
        if merged and span.start < merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return merged


def _pieces(name: str) -> list[tuple[int, str]]:
    """What stands in a name between two underscores, and where, if there is room for a secret."""
    if "_" not in name or not any(len(word) >= LONG_PIECE for word in name.split("_")):
        return []
    cuts = [-1, *[at for at, char in enumerate(name) if char == "_"][:MOST_PARTS], len(name)]
    found = [
        (first + 1, name[first + 1 : last])
        for at, first in enumerate(cuts)
        for last in cuts[at + 1 :]
    ]
    return [(at, piece) for at, piece in found if LONG_PIECE <= len(piece) < len(name)]

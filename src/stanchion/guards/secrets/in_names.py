"""Secrets in names: of tools, agents, tasks, runs. A name is read as it is, and in the pieces that
it is made of."""

from __future__ import annotations

from typing import Final

from stanchion.guards.secrets.finder import Finder
from stanchion.guards.secrets.fingerprints import not_allowed
from stanchion.kernel.names import Names
from stanchion.readings.texts import Span

LONGEST: Final = 512
"""A longer name is not read piece by piece."""
LONG_PIECE: Final = 12
"""What is shorter between two underscores is a word."""
MOST_PIECES: Final = 12


def in_name(finder: Finder, name: str, decode: bool, allowed: Names) -> list[Span]:
    """The secrets of a name, in order, none within another. To patterns an underscore is a letter,
    and in names it joins words: what stands between any two of them is read by itself as well."""
    pieces = [(0, name), *(_pieces(name) if len(name) <= LONGEST else ())]
    found = finder.look([text for _, text in pieces], decode)
    if found is None:
        return []
    spans = [
        Span(at + span.start, at + span.end, span.kind, span.called)
        for (at, text), here in zip(pieces, found, strict=True)
        for span in not_allowed(text, here, allowed, ())
    ]
    merged: list[Span] = []
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
    cuts = [-1, *[at for at, char in enumerate(name) if char == "_"][:MOST_PIECES], len(name)]
    found = [
        (first + 1, name[first + 1 : last])
        for at, first in enumerate(cuts)
        for last in cuts[at + 1 :]
    ]
    return [(at, piece) for at, piece in found if LONG_PIECE <= len(piece) < len(name)]

"""Settling: how much of a text that comes in pieces can be judged for good, whatever follows."""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

from stanchion.guards.secrets.finder import Finder
from stanchion.guards.secrets.likeness import half_redaction, redactions
from stanchion.readings.disguise import runs as decoding

HELD: Final = 16_384
"""How much is held back at the most."""

TRIES: Final = 8

Extent = tuple[int, int]


def settled(finder: Finder, text: str, decode: bool) -> int:
    """How many characters at the beginning of a text are judged alike, alone and with whatever
    follows; nothing that is found, no run that is decoded and no redaction reaches over that
    place."""
    size = len(text)
    at = min(finder.scanner.open_at(text), half_redaction(text))
    whole = redactions(text)
    if decode:
        last = decoding.last_run(text)
        at = min(at, last if size - last <= decoding.LONGEST else at)
        # Of a run that is too long to be decoded so much has to stand together that it is known to
        # be.
        whole += [
            (first, min(last, first + decoding.LONGEST + 1)) for first, last in decoding.runs(text)
        ]
    matches = _matches(finder, text)
    point = _before(matches, whole, finder, text, at)
    if size - point <= HELD:
        return point
    return _within(matches, finder, text, size - HELD, at)


def _matches(finder: Finder, text: str) -> set[tuple[int, Extent]]:
    return {(hit.pattern, (hit.first, hit.last)) for hit in finder.scanner.scan(text)}


def _before(
    matches: set[tuple[int, Extent]], whole: list[Extent], finder: Finder, text: str, at: int
) -> int:
    """The last place up to `at` over which nothing reaches, and before which the same is found
    alone."""
    chains = _chains([place for _, place in matches] + whole)
    starts = [first for first, _ in chains]
    while at:
        near = bisect_left(starts, at) - 1
        if near >= 0 and at < chains[near][1]:
            at = chains[near][0]
            continue
        lower = min([place[0] for _, place in _matches(finder, text[:at]) - matches], default=at)
        if lower == at:
            return at
        at = lower
    return 0


def _chains(places: list[Extent]) -> list[Extent]:
    """Places that overlap as one, in order: inside of it there is nowhere over which nothing
    reaches."""
    made: list[Extent] = []
    for first, last in sorted(places):
        if made and first < made[-1][1]:
            made[-1] = (made[-1][0], max(last, made[-1][1]))
        else:
            made.append((first, last))
    return made


def _within(
    matches: set[tuple[int, Extent]], finder: Finder, text: str, least: int, most: int
) -> int:
    """A place inside of matches that overlap each other without an end: what is before it is
    covered by matches that end there, so that nothing of it shows."""
    ends = sorted({last for _, (_, last) in matches if least <= last <= most}, reverse=True)
    for end in ends[:TRIES]:
        inside = {match for match in matches if match[1][1] <= end}
        reaching = min([first for _, (first, last) in matches if first < end < last], default=end)
        if (
            _covered([place for _, place in inside], end) <= reaching
            and _matches(finder, text[:end]) == inside
        ):
            return end
    return most


def _covered(places: list[Extent], end: int) -> int:
    """From where on all is covered by places, up to an end."""
    begin = end
    for first, last in sorted(places, key=lambda place: -place[1]):
        if last < begin:
            break
        begin = min(begin, first)
    return begin

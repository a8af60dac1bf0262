"""Settling: where a text that comes in pieces may be cut, so that what stands before is judged for
good."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from stanchion.guards.secrets.finder import Finder
from stanchion.guards.secrets.likeness import half_redaction, redactions
from stanchion.readings.cover import Cover
from stanchion.readings.disguise import runs as decoding
from stanchion.readings.scan import CONTEXT, Hit


def cuts(finder: Finder, text: str, decode: bool) -> Callable[[int], int]:
    """Gives, for each place of a text that goes on, the last one up to it where it may be cut: what
    stands before is judged alike, alone and with whatever follows, and nothing that is found, no
    run that is decoded and no redaction reaches over it."""
    settled = min(finder.scanner.open_at(text), half_redaction(text))
    whole = redactions(text)
    if decode:
        last = decoding.last_run(text)
        settled = min(settled, last if len(text) - last <= decoding.LONGEST else settled)
        # Of a run that is too long to be decoded so much has to stand together that it is known to
        # be.
        whole += [
            (first, min(last, first + decoding.LONGEST + 1)) for first, last in decoding.runs(text)
        ]
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


def _changed(finder: Finder, hits: list[Hit], text: str, at: int) -> int:
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

"""Epochs of a key that ratchets: each begins once, and the next follows; which of them a trail does
not have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby

from .seals import RATCHET, Key
from .walk import Walk


def unproven(walks: Iterable[Walk], key: Key | None) -> Iterator[str]:
    """Say which epochs are nowhere in the trail, and which begin twice.

    Whoever finds a key on the machine seals with it from then on, and could put such records in the
    place of earlier
    ones: then the epochs of those are missing.
    """
    if key is None or key.algorithm != RATCHET or key.epoch:
        return
    began = Counter(number for walk in walks for number in walk.epochs)
    missing = [number for number in range(max(began, default=-1) + 1) if number not in began]
    spans = [list(span) for _, span in groupby(enumerate(missing), lambda one: one[1] - one[0])]
    for span in spans:
        first, last = span[0][1], span[-1][1]
        which = (
            f"epoch {first} of the key is"
            if first == last
            else f"epochs {first} to {last} of the key are"
        )
        yield (
            f"not proven: {which} nowhere in this trail. Possible reasons: another trail has them, "
            f"they were pruned, a "
            "process died before it wrote, or somebody with a later key replaced what was there"
        )
    twice = sorted(number for number, count in began.items() if count > 1)
    if twice:
        listed = ", ".join(map(str, twice))
        yield (
            f"not proven: the key was put back to an earlier one, because epoch {listed} begins "
            f"more than once: "
            "whoever had "
            "it then could have written everything sealed since"
        )

"""Layers: what a text says where several encodings lie on each other.

It is for whoever knows what is looked for when it is seen: such a reader is not misled by what
means nothing. A text is read forwards and backwards, and without the blanks in it where it is
nothing but encoded text; what is found so is read again, up to three layers deep.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.disguise.runs import SHORTEST
from stanchion.readings.disguise.views import DEEP, forms

LAYERS: Final = 3
TURNED: Final = 100_000
"""Longer texts are not read backwards, or without their blanks."""

_CODED: Final = regex(r"[0-9A-Za-z+/_=-]+")
_ENCODED: Final = regex(rf"[0-9A-Za-z+/_=-]{{{SHORTEST}}}|(?:[0-9A-Fa-f]{{2}}%){{8}}")
"""What a text has that may say something backwards."""


def layers(text: str) -> Iterator[str]:
    """All that a text says in other forms, each once, as far as the work for it is bounded."""
    seen = {text}
    waiting = [text]
    left = DEEP
    for _ in range(LAYERS):
        found: list[str] = []
        for one in waiting:
            for turned in _turned(one):
                if turned is not one and turned not in seen:
                    seen.add(turned)
                    yield turned
                for view in forms(turned):
                    if left > 0 and view.text not in seen:
                        left -= len(view.text)
                        seen.add(view.text)
                        found.append(view.text)
                        yield view.text
        waiting = found


def _turned(text: str) -> Iterator[str]:
    """A text, without its blanks, and both backwards, where that may say something else."""
    yield text
    if not SHORTEST <= len(text) <= TURNED:
        return
    tight = "".join(text.split())
    apart = len(tight) < len(text) and _CODED.fullmatch(tight) is not None
    if apart:
        yield tight
    if _ENCODED.search(tight if apart else text) is not None:
        yield (tight if apart else text)[::-1]

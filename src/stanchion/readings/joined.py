"""The texts of an event as one, so that one pass goes over all of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, Final

from stanchion.kernel.regex import regex
from stanchion.readings.texts import plain_texts

BETWEEN: Final = "\x1f"
"""What stands between texts; where it stands in a text it is the end of one."""


TAKEN_OUT: Final = regex(rb"\[(?:redacted:[a-z0-9-]{1,60}|[a-z0-9-]{1,60}:[0-9a-f]{6})\]")
"""What stands in the place of something that was taken out."""


class JoinedTexts:
    """Texts one behind the other, as bytes too, one for each character: as they are (`raw`), and
    with what patterns go by (`flat`). And where each text begins."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.text = texts[0] if len(texts) == 1 else BETWEEN.join(texts)
        self.raw = self.text.encode("latin-1", "replace")
        self.flat = _flattened(self.raw)

    @property
    def is_parted(self) -> bool:
        """Whether what stands between texts stands in one of them: it hides a word there."""
        return self.flat.count(b"\n") > max(len(self.texts) - 1, 0)

    @cached_property
    def begins(self) -> list[int]:
        """Where each text begins, and behind the last one where another would."""
        return [0, *accumulate([len(text) + 1 for text in self.texts])]

    def which(self, place: int) -> int:
        """The number of the text that has a place."""
        return bisect_right(self.begins, place) - 1


def flat(text: str) -> bytes:
    """A text as one byte for each character, so that places in both are the same. What stands in
    the place of something that was taken out says nothing."""
    return _flattened(text.encode("latin-1", "replace"))


def _flattened(raw: bytes) -> bytes:
    made = raw.replace(b"\n", b"\x1e").replace(b"\x1f", b"\n")
    return (
        TAKEN_OUT.sub(lambda seen: b"[".ljust(len(seen[0]), b"]"), made) if b"[" in made else made
    )


def joined(reading: Any) -> JoinedTexts:
    """The texts of an event as one."""
    texts = plain_texts(reading.content)
    return JoinedTexts([leaf.text for leaf in reading.leaves] if texts is None else texts)

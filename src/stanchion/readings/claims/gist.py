"""The gist of a text: little enough to keep, and enough to say of many texts whether they stand in
it. It holds no word of the text."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Final
from zlib import crc32

import msgspec

from stanchion.kernel.regex import regex
from stanchion.readings.fingerprint import digest

PIECES: Final = 96
"""How many lines and words are known again."""
BITS: Final = 2_048
LONGEST: Final = 4_096
"""Up to how many characters of a text can be told what does not stand in it."""
LEAST: Final = 3

_WORD: Final = regex(r"\w+")


class Gist(msgspec.Struct, frozen=True, array_like=True):
    """`pieces` are digests of lines and words. `runs` has a bit for each three characters in a row;
    it is empty where not all of the text is known, or it is long."""

    pieces: tuple[str, ...] = ()
    runs: str = ""

    def has(self, text: str) -> bool | None:
        """Whether a text stands in the one this is of; `None` where that is not known. Of spaces at
        its ends nothing is
        known: whoever printed a text may have left them out."""
        if text != text.strip():
            return None
        if digest("piece", text) in self.pieces:
            return True
        if not self.runs or len(text) < LEAST:
            return None
        kept = b64decode(self.runs)
        missing = any(not kept[bit // 8] >> bit % 8 & 1 for bit in _bits(text))
        return False if missing else None


def gist_of(text: str, whole: bool) -> Gist:
    """The gist of a text; without `whole` there may be more than that."""
    pieces = tuple(dict.fromkeys([digest("piece", piece) for piece in _pieces(text)]))
    return Gist(pieces, _runs(text) if whole and len(text) <= LONGEST else "")


def _pieces(text: str) -> list[str]:
    """Lines first, then words with and without what stands around them: as many as are kept."""
    lines = [line.strip() for line in text.splitlines()[:PIECES]]
    found = dict.fromkeys([line for line in lines if line])
    for line in lines:
        if len(found) >= PIECES:
            break
        found |= dict.fromkeys([*line.split(), *_WORD.findall(line)])
    return list(found)[:PIECES]


def _runs(text: str) -> str:
    kept = bytearray(BITS // 8)
    for bit in _bits(text):
        kept[bit // 8] |= 1 << bit % 8
    return b64encode(bytes(kept)).decode()


def _bits(text: str) -> Iterator[int]:
    for at in range(len(text) - LEAST + 1):
        yield crc32(text[at : at + LEAST].encode("utf-8", "surrogatepass")) % BITS

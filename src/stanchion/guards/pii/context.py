"""Context: the words shortly before a number, or in the name of its field, that say what it is."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from stanchion.guards._placeholders import NAMES
from stanchion.guards.pii.entity import Entity
from stanchion.guards.pii.limits import REACH
from stanchion.kernel.regex import regex

LETTERS: Final = regex(r"[^\W\d_]+")
HUMP: Final = regex(r"(?<=[a-z\d])(?=[A-Z])")
HIDDEN: Final = regex(r"(?:^|\[[a-z0-9-]+:)[a-z0-9:-]*\]")
"""A placeholder, or the end of one that began before the window. Its words are ours and say
nothing."""
SCRIPTS: Final = "\u0900"
"""From here on scripts do not part words by blanks."""


class Words:
    """The words of an entity, ready to be looked for."""

    __slots__ = ("_parted", "_within")

    def __init__(self, entity: Entity) -> None:
        words = [word for word in entity.words.split("|") if word]
        self._parted = tuple(
            [f" {word}{more} " for word in words if word[0] < SCRIPTS for more in ("", "s")]
        )
        self._within = tuple([word for word in words if word[0] >= SCRIPTS])

    def __bool__(self) -> bool:
        return bool(self._parted or self._within)

    def near(self, window: str) -> bool:
        """Whether a window has one of them."""
        return any(word in window for word in self._parted) or any(
            word in window for word in self._within
        )


def window(text: str, start: int, at: int) -> str:
    """What stands before a place in a text that begins at `start`, as words in small letters,
    parted by blanks."""
    raw = text[max(start, at - REACH) : at]
    if "]" in raw:
        for hidden in HIDDEN.finditer(raw):
            last = hidden.end()
            raw = " " * last + raw[last:]
    return spelt(raw)


@lru_cache(1_024)
def named(names: tuple[str, ...]) -> str:
    """The words of the names above a value."""
    return "".join([spelt(name) for name in names[-NAMES:]])


def spelt(text: str) -> str:
    """The words of a text in small letters, parted by blanks."""
    return f" {' '.join(LETTERS.findall(HUMP.sub(' ', text))).lower()} "


OTHERS: Final = frozenset(
    {
        "awb", "barcode", "batch", "block", "booking", "case", "confirmation", "consignment",
        "dump", "employee", "hash", "hexdump", "imei", "invoice", "isbn", "item", "lot", "memory",
        "offset", "order", "parcel", "part", "po", "product", "purchase", "ref", "reference",
        "reservation", "seed", "serial", "shipment", "sku", "staff", "ticket", "timestamp",
        "tracking", "transaction", "upc", "version", "waybill",
    }
)  # fmt: skip
"""Words for numbers that have the shape of a person's by chance."""
CLOSE: Final = 5
"""So many words before a number may say what else it is."""
SERIES: Final = regex(r"(?<![0-9A-Za-z-])(?:[0-9A-Fa-f]{4}|[0-9A-Fa-f]{6,16}:?[ ]?)[ ]\Z")
"""A group of digits right before another: one of a dump, or of a longer number."""


def otherwise(near: str, before: str, grouped: bool) -> bool:
    """Whether what stands before a number says that it is something else, given its words, its
    characters, and whether the number is written in groups."""
    return not OTHERS.isdisjoint(near.split()[-CLOSE:]) or (
        grouped and SERIES.search(before) is not None
    )

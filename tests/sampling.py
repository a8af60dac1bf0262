"""How much of a long enumeration `make test` plays; `make soak` plays all of it."""

import os
from collections.abc import Iterable
from typing import Final, TypeVar
from zlib import crc32

SOAK: Final = bool(os.environ.get("STANCHION_SOAK"))

T = TypeVar("T")


def some(items: Iterable[T], every: int, name: str = "", whole: bool = SOAK) -> list[T]:
    """Every so many-th of the items, beginning where the name says: two enumerations do not pick
    alike; or all of them.

    It is the same each time, and never nothing where there is something.
    """
    listed = list(items)
    if whole or not listed:
        return listed
    return listed[crc32(name.encode()) % min(every, len(listed)) :: every]

"""A store's epoch: one record by which everybody notices that a store has lost what it held."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.kernel.state import EPOCH, Expect, Fresh

MADE: Final = "made"
"""How an epoch begins where a store is new."""
LOST: Final = "lost"
"""How one begins that a process declares which has noticed the loss, so that everybody stops."""

MARKS: Final = 1 << 32
"""How many versions an epoch has room for. The number of the record is `id * MARKS` and its version
on top: another epoch has other numbers, and in an older copy of the same epoch they are smaller."""

IDS: Final = 1 << 20
"""Ids of epochs are drawn below this, above zero: every number stays exact in a double."""


class Epoch(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """When an epoch began, how (`made` with the store, `lost`, or `accepted` or `restored` by an
    operator), by whom and why."""

    at: int
    how: str = MADE
    by: str = ""
    why: str = ""


def expectation(number: int) -> Expect:
    """What a batch expects of a store that remembers: the same epoch, not older than it was
    seen."""
    return EPOCH, number, (number // MARKS + 1) * MARKS


def first_of(number: int) -> int:
    """The first number of an epoch."""
    return number // MARKS * MARKS


def goes_on(epoch: Epoch, since: int) -> bool:
    """Whether an operator has said, at that time or later, to go on with the store as it is."""
    return epoch.how not in (MADE, LOST) and epoch.at >= since


def takes_over(known: tuple[int, Any], fresh: Fresh) -> bool:
    """Whether a store's other epoch is one with which an operator has said to go on, after the
    known one began."""
    if known[1] is None or fresh.value is None or fresh.number // MARKS == known[0] // MARKS:
        return False
    before, after = typed.convert(known[1], Epoch), typed.convert(fresh.value, Epoch)
    return goes_on(after, before.at + 1)

"""How slices are named: the process that holds them, its sign of life, and the pool that bounds all
of them."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.scopes import FLEET
from stanchion.kernel.state import key

_SLICE: Final = "lease-"

POOLS: Final = tuple([shadow + key(FLEET, "lent") for shadow in ("", "~")])
"""How the keys of pools begin."""


def slice_prefix(lender: str) -> str:
    """What the ids of the slices of a process begin with."""
    return f"{_SLICE}{lender}-"


def is_slice(hold_id: str) -> bool:
    """Whether a hold is a slice of a counter of the whole fleet."""
    return hold_id.startswith(_SLICE) and hold_id.count("-") == 2


def lender_of(hold_id: str) -> str:
    """The process that holds a slice."""
    return hold_id.split("-")[1]


def lender_key(lender: str) -> str:
    """The counter that a process touches while it holds slices: its sign of life."""
    return key(FLEET, "lender", lender)


def pool_key(counter: str) -> str:
    """The counter of what all processes together hold of a counter and have not asked for yet to
    spend it."""
    shadow, tag = ("~", counter[1:]) if counter.startswith("~") else ("", counter)
    rest = tag.removeprefix(key(FLEET))
    return f"{shadow}{key(FLEET, 'lent')}:{rest}"

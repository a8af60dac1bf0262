"""Layer 2: ask again for something better, a bounded number of times, and take the best of what
came."""

from __future__ import annotations

from collections.abc import Callable, Generator
from hashlib import sha256
from typing import Any, Final, Generic, TypeVar

import msgspec

V = TypeVar("V")
SEEDS: Final = 0x7FFF_FFFF
"""The largest seed: every provider takes numbers up to this."""


class NoMore(Exception):
    """No further candidate can be made: the best of those that there are is taken."""


class Checked(msgspec.Struct, frozen=True):
    """What is to be said of something before it is used: how good it is (lower is better), and
    whether to ask again."""

    rank: int = 0
    again: bool = False
    why: str = ""
    """What is wrong with it, for whoever makes the next one."""


class RankedCandidate(msgspec.Struct, Generic[V], frozen=True):
    """One of the things that were made, in their order."""

    index: int
    value: V
    checked: Checked


class BestCandidate(msgspec.Struct, Generic[V], frozen=True):
    """The candidate that is used, and how many there were."""

    best: RankedCandidate[V]
    attempts: int


Make = Callable[[int, tuple[RankedCandidate[V], ...]], Generator[Any, Any, V]]
Precheck = Callable[[V, tuple[RankedCandidate[V], ...]], Checked]


def best_of(
    make: Make[V], precheck: Precheck[V], retries: int
) -> Generator[Any, Any, BestCandidate[V]]:
    """Make candidates until one need not be asked for again, `1 + retries` at most; the best is the
    one of the lowest rank, and of those the first. Nothing is used while they are compared.
    `NoMore` ends it early, but not before there is one."""
    found: list[RankedCandidate[V]] = []
    for index in range(1 + retries):
        try:
            value = yield from make(index, tuple(found))
        except NoMore:
            if not found:
                raise
            break
        checked = precheck(value, tuple(found))
        found.append(RankedCandidate(index, value, checked))
        if not checked.again:
            break
    return BestCandidate(min(found, key=lambda one: (one.checked.rank, one.index)), len(found))


def seed_of(seed: int | None, turn: int, attempt: int) -> int | None:
    """The seed of an attempt: another for each, the same whenever it is played again."""
    if seed is None:
        return None
    digest = sha256(f"{seed}:{turn}:{attempt}".encode()).digest()
    return int.from_bytes(digest[:4]) & SEEDS

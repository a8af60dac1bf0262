"""The validation cache: what was found about a call, for an hour, the least recently used forgotten
first."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final

import msgspec

from stanchion.locks import Lock

MOST: Final = 4_096
TTL_S: Final = 3_600.0


class ValidationStats(msgspec.Struct, frozen=True):
    """How often a call was known already, how often not, and the share of the first."""

    cache_hits: int
    cache_misses: int

    @property
    def hit_rate(self) -> float:
        """The share of calls that were known already; 0 where none was asked about."""
        asked = self.cache_hits + self.cache_misses
        return self.cache_hits / asked if asked else 0.0


class ValidationCache:
    """Remembers findings and hooks' answers by all that they depend on. Time is that of the
    events."""

    def __init__(self, most: int = MOST, ttl_s: float = TTL_S) -> None:
        self._most = most
        self._ttl_ms = int(ttl_s * 1000)
        self._kept: OrderedDict[tuple[Any, ...], tuple[int, Any, int]] = OrderedDict()
        self._lock = Lock()
        self._hits = self._misses = 0

    def get(self, key: tuple[Any, ...], at_ms: int, /) -> tuple[bool, Any]:
        """Whether something is known by that key, and what."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is None or not 0 <= at_ms - kept[0] < kept[2]:
                self._misses += 1
                return False, None
            self._hits += 1
            self._kept.move_to_end(key)
            return True, kept[1]

    def put(
        self, key: tuple[Any, ...], value: Any, at_ms: int, /, ttl_s: float | None = None
    ) -> None:
        """Remember a value, for a time of its own where one is given."""
        with self._lock:
            self._kept[key] = (at_ms, value, self._ttl_ms if ttl_s is None else int(ttl_s * 1000))
            self._kept.move_to_end(key)
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def drop(self, key: tuple[Any, ...], /) -> None:
        """Forget a value."""
        with self._lock:
            self._kept.pop(key, None)

    def __len__(self) -> int:
        return len(self._kept)

    def stats(self) -> ValidationStats:
        """How often it was of use."""
        with self._lock:
            return ValidationStats(self._hits, self._misses)

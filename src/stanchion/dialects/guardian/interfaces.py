"""Providers: what a program of its own keeps incidents and cached answers with; the cache that is
shipped, and a program's own in the place of Stanchion's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from hashlib import sha256
from typing import Any, Final

from stanchion.dialects.errors import DialectError
from stanchion.dialects.guardian.settings import seconds, whole
from stanchion.runtime.calling.validation_cache import ValidationCache, ValidationStats
from stanchion.runtime.driving.on_loop import is_async
from stanchion.stores.memory import wall_ms
from stanchion.telemetry import loggers


class StorageProvider(ABC):
    """Keeps incidents, and knows which calls worked.

    It can also have `init()`, `update_best_practice(fingerprint, tool_name, success, call_data)`,
    `get_tool_stats(tool_name)` (`successes` and `failures`) and `close()`: they are called where
    they are there.
    """

    @abstractmethod
    def log_incident(self, incident_data: dict[str, Any]) -> None:
        """Keep what came of one call: `session_id`, `tool_name`, `fingerprint`, `success`,
        `timestamp`, `error_reason`, `context_hint` and `call_data`, all without secrets."""

    def get_best_practice(self, tool_name: str) -> dict[str, Any] | None:
        """A call of a tool that worked, with its JSON as `last_success_data`; `None` where none is
        known."""
        return None


class AsyncStorageProvider(ABC):
    """The same with methods that are awaited, all of them on one event loop of a thread of its
    own."""

    @abstractmethod
    async def log_incident(self, incident_data: dict[str, Any]) -> None:
        """Keep what came of one call."""

    async def get_best_practice(self, tool_name: str) -> dict[str, Any] | None:
        """A call of a tool that worked; `None` where none is known."""
        return None


class CacheProvider(ABC):
    """Keeps values for a time: which calls were found valid, and texts of advice."""

    @abstractmethod
    def get(self, key: str) -> Any:
        """A value by its key; `None` where there is none."""

    @abstractmethod
    def set(self, key: str, value: Any, ttl: int | None = None) -> None:
        """Keep a value, for so many seconds."""


VALID: Final = "valid:"
"""What begins what is kept of a call that was found valid, before its key. What was refused is
looked at again."""
ADVICE: Final = "advice:"
"""What begins a text of advice that is kept."""
HOOKS: Final = "hooks"
"""What keys begin with under which answers of hooks are kept."""


class InMemoryCacheProvider(CacheProvider):
    """Keeps values in memory for a time; the least recently used is forgotten first. Safe between
    threads."""

    def __init__(
        self, max_size: int = 1000, default_ttl: float = 3600, clock: Callable[[], int] = wall_ms
    ) -> None:
        whole("max_size", max_size, 1)
        seconds("default_ttl", default_ttl)
        self._kept: Final = ValidationCache(max_size, default_ttl)
        self._clock: Final = clock

    def get(self, key: str) -> Any:
        """A value by its key; `None` where there is none, or its time is over."""
        return self._kept.get((key,), self._clock())[1]

    def set(self, key: str, value: Any, ttl: float | None = None) -> None:
        """Keep a value, for so many seconds."""
        self._kept.put((key,), value, self._clock(), ttl)

    def delete(self, key: str) -> None:
        """Forget a value."""
        self._kept.drop((key,))

    def get_stats(self) -> dict[str, Any]:
        """How often a value was there, how often not, the share of the first, and how many are
        kept."""
        stats = self._kept.stats()
        return {
            "hits": stats.cache_hits,
            "misses": stats.cache_misses,
            "hit_rate": stats.hit_rate,
            "size": len(self._kept),
        }


class Provided:
    """A program's own cache. One that raises is as good as empty, which is said once."""

    def __init__(self, provider: Any) -> None:
        self._provider: Final = provider
        self._told = False

    def get(self, key: str) -> Any:
        """What it has under a key."""
        try:
            return self._provider.get(key)
        except Exception as error:  # noqa: BLE001 - it is a program's own code, and nothing must fail for it
            self._tell(error)
            return None

    def set(self, key: str, value: Any, ttl_s: float) -> None:
        """Have it keep a value."""
        try:
            self._provider.set(key, value, int(ttl_s))
        except Exception as error:  # noqa: BLE001 - the same
            self._tell(error)

    def _tell(self, error: Exception) -> None:
        if not self._told:
            self._told = True
            why = f"raised `{type(error).__name__}`"
            loggers.say(
                loggers.TELEMETRY, loggers.WARNING, "the cache provider cannot be used", why=why
            )


def held(provider: Any) -> Provided:
    """A program's own cache; `DialectError` where it is none that can be asked."""
    if isinstance(provider, type):
        raise DialectError(
            f"`cache_provider` is the class `{provider.__name__}`: give one that is made of it"
        )
    for name in ("get", "set"):
        method = getattr(provider, name, None)
        if not callable(method):
            said = f"`cache_provider` is `{type(provider).__name__}`, which has no method `{name}`"
            raise DialectError(f"{said}: give a `CacheProvider`")
        if is_async(method):
            said = f"`{name}` of `cache_provider` has to be awaited, and guards wait for nothing"
            raise DialectError(f"{said}: give a `CacheProvider` whose methods answer at once")
    return Provided(provider)


class ProvidedMemory:
    """Remembers in a program's own cache which calls are valid by their schemas. Answers of hooks
    stay in this process: no other knows whether its hooks are the same."""

    def __init__(self, provider: Provided, ttl_s: float) -> None:
        self._provider: Final = provider
        self._ttl_s: Final = ttl_s
        self._hooks: Final = ValidationCache(ttl_s=ttl_s)
        self._hits = self._misses = 0

    def get(self, key: tuple[Any, ...], at_ms: int, /) -> tuple[bool, Any]:
        """Whether a call is known to be valid."""
        if key[0] == HOOKS and len(key) == 5:
            return self._hooks.get(key, at_ms)
        name = _key(key)
        known = self._provider.get(name) == VALID + name
        self._hits, self._misses = self._hits + known, self._misses + (not known)
        return known, None

    def put(self, key: tuple[Any, ...], value: Any, at_ms: int, /) -> None:
        """Remember that a call is valid."""
        if key[0] == HOOKS and len(key) == 5:
            self._hooks.put(key, value, at_ms)
        elif value is None:
            name = _key(key)
            self._provider.set(name, VALID + name, self._ttl_s)

    def stats(self) -> ValidationStats:
        """How often it was of use."""
        hooks = self._hooks.stats()
        return ValidationStats(self._hits + hooks.cache_hits, self._misses + hooks.cache_misses)


class ProvidedTexts:
    """Keeps texts of advice in a program's own cache."""

    def __init__(self, provider: Provided, ttl_s: float) -> None:
        self._provider: Final = provider
        self._ttl_s: Final = ttl_s

    def get(self, key: str) -> str | None:
        """A text by its key."""
        known = self._provider.get(ADVICE + key)
        return (
            known.removeprefix(ADVICE)
            if isinstance(known, str) and known.startswith(ADVICE)
            else None
        )

    def put(self, key: str, text: str) -> None:
        """Keep a text."""
        self._provider.set(ADVICE + key, ADVICE + text, self._ttl_s)


def _key(key: tuple[Any, ...]) -> str:
    return f"validation:{sha256(repr(key).encode('utf-8', 'replace')).hexdigest()}"

"""Providers: what a program of its own keeps incidents and cached answers with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


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

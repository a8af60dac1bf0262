"""A program's own storage, as the shelf that Stanchion keeps experience on."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import Sequence
from threading import Thread
from typing import Any, Final

import msgspec

from stanchion.dialects.errors import DialectError
from stanchion.dialects.guardian.storage import arguments_of, told_of
from stanchion.experience.bounded import bounded, encoded, fingerprint
from stanchion.experience.incident import Incident, Practice
from stanchion.experience.shelf import Shelf, ShelfError
from stanchion.experience.tally import Known, Tally
from stanchion.locks import Lock
from stanchion.stores.experience.memory import MemoryShelf

NEEDED: Final = ("log_incident", "get_best_practice")
PATIENCE_S: Final = 10.0
"""How long a method that is awaited may take."""


def shelf_for(provider: Any) -> Shelf:
    """The shelf of a provider; `DialectError` where it lacks a method."""
    if isinstance(provider, type):
        raise DialectError(f"`storage_provider` is the class `{provider.__name__}`: give one that is made of it")
    shelf: Shelf | None = getattr(provider, "shelf", None)
    if shelf is not None and callable(getattr(shelf, "known", None)):
        return shelf
    for name in NEEDED:
        if not callable(getattr(provider, name, None)):
            said = f"`storage_provider` is `{type(provider).__name__}`, which has no method `{name}`"
            raise DialectError(f"{said}: derive it from `StorageProvider`, or write that method")
    return ProvidedShelf(provider)


class ProvidedShelf(MemoryShelf):
    """Tells a provider every incident, and asks it which calls worked. What it has no methods for is known from this
    process alone."""

    def __init__(self, provider: Any) -> None:
        super().__init__()
        self._provider: Final = provider
        self._told: set[str] = set()
        self.start_anew()
        _living.add(self)
        if hasattr(provider, "init"):
            self._ask("init")

    def start_anew(self) -> None:
        """Have no loop until one is needed, as a forked child does: the thread of its parent's is not there."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._starting = Lock()

    def write(self, incidents: Sequence[Incident]) -> None:
        """Tell a batch; what was told before it failed is not told again."""
        for one in incidents:
            if one.id in self._told:
                continue
            self._ask("log_incident", told_of(one))
            self._told.add(one.id)
            if hasattr(self._provider, "update_best_practice"):
                data = told_of(one)["call_data"] if one.good_data is not None else None
                self._ask("update_best_practice", one.fingerprint, one.tool_name, one.success, data)
        super().write(incidents)
        self._told.clear()

    def known(self, tenant: str, tool: str, today: int) -> Known:
        """What this process knows of a tool, and what the provider does."""
        own = super().known(tenant, tool, today)
        best = self._practice(tool)
        practices = own.practices if best is None else (best, *[one for one in own.practices if not _same(one, best)])
        return Known(self._tally(tool, own.tally), practices)

    def close(self) -> None:
        """Close the provider, where it can be."""
        if hasattr(self._provider, "close"):
            self._ask("close")
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)

    def _practice(self, tool: str) -> Practice | None:
        found = self._ask("get_best_practice", tool)
        if found is None:
            return None
        try:
            args = bounded(arguments_of(found["last_success_data"]))
        except (DialectError, KeyError, TypeError):
            said = "give a mapping with `last_success_data`, the JSON of a call, or None"
            raise ShelfError(f"`get_best_practice` of the storage provider gave something else: {said}") from None
        data = encoded(args)
        counts = [found.get(name, least) for name, least in (("success_count", 1), ("failure_count", 0))]
        good, bad = [one if isinstance(one, int) else 0 for one in counts]
        return Practice(fingerprint(tool, data), tool, good, bad, data, 0)

    def _tally(self, tool: str, own: Tally) -> Tally:
        if not hasattr(self._provider, "get_tool_stats"):
            return own
        found = self._ask("get_tool_stats", tool)
        try:
            return msgspec.structs.replace(own, successes=int(found["successes"]), failures=int(found["failures"]))
        except (KeyError, TypeError, ValueError):
            said = "give a mapping with `successes` and `failures`"
            raise ShelfError(f"`get_tool_stats` of the storage provider gave something else: {said}") from None

    def _ask(self, name: str, *given: Any) -> Any:
        """What a method of the provider gives, awaited where it has to be."""
        try:
            answer = getattr(self._provider, name)(*given)
            if hasattr(type(answer), "__await__"):
                waiting = asyncio.run_coroutine_threadsafe(_awaited(answer), self._running())
                return waiting.result(PATIENCE_S)
            return answer
        except Exception as error:  # it is a program's own code, and may raise anything
            raise ShelfError(f"`{name}` of the storage provider raised `{type(error).__name__}`") from error

    def _running(self) -> asyncio.AbstractEventLoop:
        """The event loop that everything of the provider is awaited on."""
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                Thread(target=_run, args=(self._loop,), name="guardian-storage", daemon=True).start()
            return self._loop


_living: Final[weakref.WeakSet[ProvidedShelf]] = weakref.WeakSet()


def _after_fork() -> None:
    for shelf in list(_living):
        shelf.start_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


async def _awaited(answer: Any) -> Any:
    return await answer


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()


def _same(one: Practice, other: Practice) -> bool:
    return one.fingerprint == other.fingerprint

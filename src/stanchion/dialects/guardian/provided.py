"""A program's own storage, as the shelf that Stanchion keeps experience on."""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final

import msgspec

from stanchion.dialects.errors import DialectError
from stanchion.dialects.guardian.storage import arguments_of, told_of
from stanchion.experience.bounded import bounded, encoded, fingerprint
from stanchion.experience.incident import Incident, Practice
from stanchion.experience.shelf import Shelf, ShelfError
from stanchion.experience.tally import Known, Tally
from stanchion.kernel.tuples import NamedTuple
from stanchion.locks import Lock
from stanchion.locks.forks import tell_of_forks
from stanchion.stores.experience.memory import MemoryShelf

NEEDED: Final = ("log_incident", "get_best_practice")
PATIENCE_S: Final = 2.0
"""How long one who asks the provider waits for it."""


class ProviderQuestion(NamedTuple):
    """A method of the provider, what it is given, its answer when it is there, and the incident
    that it is about."""

    name: str
    method: Callable[..., Any]
    given: tuple[Any, ...]
    answer: Future[Any]
    about: str


def shelf_for(provider: Any) -> Shelf:
    """The shelf of a provider; `DialectError` where it lacks a method."""
    if isinstance(provider, type):
        raise DialectError(
            f"`storage_provider` is the class `{provider.__name__}`: give one that is made of it"
        )
    shelf: Shelf | None = getattr(provider, "shelf", None)
    if shelf is not None and callable(getattr(shelf, "known", None)):
        return shelf
    for name in NEEDED:
        if not callable(getattr(provider, name, None)):
            said = (
                f"`storage_provider` is `{type(provider).__name__}`, which has no method `{name}`"
            )
            raise DialectError(f"{said}: derive it from `StorageProvider`, or write that method")
    return ProvidedShelf(provider)


class ProvidedShelf(MemoryShelf):
    """Tells a provider every incident, and asks it which calls worked. What it has no methods for
    is known from this process alone."""

    def __init__(self, provider: Any) -> None:
        super().__init__()
        self._provider: Final = provider
        self._told: set[str] = set()
        self.forked()
        tell_of_forks(self)
        if hasattr(provider, "init"):
            self._ask("init")

    def forked(self) -> None:
        """Have no thread until one is needed, as a forked child does: that of its parent is not
        there."""
        self._asks: SimpleQueue[ProviderQuestion | None] | None = None
        self._late: ProviderQuestion | None = None
        self._starting = Lock()

    def write(self, incidents: Sequence[Incident]) -> None:
        """Tell a batch; what was told before it failed is not told again."""
        for one in incidents:
            self._settle()
            if one.id in self._told:
                continue
            told = told_of(one)
            call = told["call_data"] if one.good_data is not None else None
            self._ask("log_incident", told, about=one.id)
            self._told.add(one.id)
            if hasattr(self._provider, "update_best_practice"):
                self._ask("update_best_practice", one.fingerprint, one.tool_name, one.success, call)
        super().write(incidents)
        self._told.clear()

    def known(self, tenant: str, tool: str, today: int) -> Known:
        """What this process knows of a tool, and what the provider does."""
        own = super().known(tenant, tool, today)
        best = self._practice(tool)
        practices = (
            own.practices
            if best is None
            else (best, *[one for one in own.practices if not _same(one, best)])
        )
        return Known(self._tally(tool, own.tally), practices)

    def close(self) -> None:
        """Close the provider, where it can be."""
        try:
            if hasattr(self._provider, "close"):
                self._ask("close")
        finally:
            if self._asks is not None:
                self._asks.put(None)

    def _practice(self, tool: str) -> Practice | None:
        found = self._ask("get_best_practice", tool)
        if found is None:
            return None
        try:
            args = bounded(arguments_of(found["last_success_data"]))
        except (DialectError, KeyError, TypeError):
            said = "give a mapping with `last_success_data`, the JSON of a call, or None"
            raise ShelfError(
                f"`get_best_practice` of the storage provider gave something else: {said}"
            ) from None
        data = encoded(args)
        counts = [
            found.get(name, least) for name, least in (("success_count", 1), ("failure_count", 0))
        ]
        good, bad = [one if isinstance(one, int) else 0 for one in counts]
        return Practice(fingerprint(tool, data), tool, good, bad, data, 0)

    def _tally(self, tool: str, own: Tally) -> Tally:
        if not hasattr(self._provider, "get_tool_stats"):
            return own
        found = self._ask("get_tool_stats", tool)
        try:
            return msgspec.structs.replace(
                own, successes=int(found["successes"]), failures=int(found["failures"])
            )
        except (KeyError, TypeError, ValueError):
            said = "give a mapping with `successes` and `failures`"
            raise ShelfError(
                f"`get_tool_stats` of the storage provider gave something else: {said}"
            ) from None

    def _settle(self) -> None:
        """See to what nobody waited for any more: what was told all the same has been told, and
        while it has not come back nothing else is asked."""
        late = self._late
        if late is None:
            return
        if not late.answer.done():
            raise ShelfError(f"`{late.name}` of the storage provider has not come back")
        if late.about and late.answer.exception() is None:
            self._told.add(late.about)
        self._late = None

    def _ask(self, name: str, *given: Any, about: str = "") -> Any:
        """What a method of the provider gives, awaited where it has to be. All of them run on one
        thread."""
        self._settle()
        ask = ProviderQuestion(name, getattr(self._provider, name), given, Future(), about)
        self._asked().put(ask)
        try:
            return ask.answer.result(PATIENCE_S)
        except Exception as error:  # it is a program's own code, and may raise anything
            if not ask.answer.done():
                self._late = ask
                raise ShelfError(
                    f"`{name}` of the storage provider did not come back in {PATIENCE_S} s"
                ) from None
            raise ShelfError(
                f"`{name}` of the storage provider raised `{type(error).__name__}`"
            ) from error

    def _asked(self) -> SimpleQueue[ProviderQuestion | None]:
        """Where the thread of the provider is given what to ask."""
        with self._starting:
            if self._asks is None:
                self._asks = SimpleQueue()
                Thread(
                    target=_work, args=(self._asks,), name="guardian-storage", daemon=True
                ).start()
                weakref.finalize(
                    self, self._asks.put, None
                )  # the thread ends where nobody has closed the provider
            return self._asks


def _work(asks: SimpleQueue[ProviderQuestion | None]) -> None:
    """Ask a provider for one thing after the other; what has to be awaited is, always on the same
    loop."""
    loop = asyncio.new_event_loop()
    try:
        while (ask := asks.get()) is not None:
            try:
                answer = ask.method(*ask.given)
                if hasattr(type(answer), "__await__"):
                    answer = loop.run_until_complete(_awaited(answer))
            except BaseException as error:  # noqa: BLE001 - whatever it raises is the answer
                ask.answer.set_exception(error)
            else:
                ask.answer.set_result(answer)
    finally:
        loop.close()


async def _awaited(answer: Any) -> Any:
    return await answer


def _same(one: Practice, other: Practice) -> bool:
    return one.fingerprint == other.fingerprint

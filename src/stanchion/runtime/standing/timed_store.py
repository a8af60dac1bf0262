"""A store whose round trips are timed, and whose failures are counted."""

from __future__ import annotations

from time import perf_counter_ns
from typing import Any, Final

from stanchion.kernel.state import Batch, Reply
from stanchion.stores.protocol import ends_here
from stanchion.stores.wrapped import Wrapped
from stanchion.telemetry.catalogue import OTHER, STORE_FAILURES, STORE_SECONDS
from stanchion.telemetry.sinks import Telemetry

KINDS: Final = {
    "sqlite": "sqlite",
    "postgresql": "postgres",
    "redis": "redis",
    "rediss": "redis",
    "unix": "redis",
}
"""What a store is, by how its place begins."""


class Timed(Wrapped):
    """Carries batches out as the store does, and measures how long that took, or counts that it
    failed.

    Operators are told by `HeardStore`, which stands around it: one loss is one line.
    """

    def __init__(self, store: Any, telemetry: Telemetry) -> None:
        super().__init__(store)
        self._telemetry = telemetry
        scheme = str(getattr(store, "place", "")).partition(":")[0]
        self._kind = KINDS.get(scheme, OTHER)

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out."""
        begun = perf_counter_ns()
        try:
            reply: Reply = self._store.carry(batch)
        except Exception:
            self._telemetry.count(STORE_FAILURES, self._kind)
            raise
        self._took(perf_counter_ns() - begun)
        return reply

    async def acarry(self, batch: Batch) -> Reply:
        """The same without blocking the event loop."""
        begun = perf_counter_ns()
        try:
            reply: Reply = await self._store.acarry(batch)
        except Exception:
            self._telemetry.count(STORE_FAILURES, self._kind)
            raise
        self._took(perf_counter_ns() - begun)
        return reply

    def _took(self, took_ns: int) -> None:
        registry = self._telemetry.registry
        if registry is None:
            return
        try:
            registry.histogram(STORE_SECONDS, (self._kind,)).observe(took_ns)
        except Exception as error:  # noqa: BLE001 - telemetry may fail, the batch is carried out
            self._telemetry.failed("store", error)


def timed(store: Any, telemetry: Telemetry) -> Any:
    """A store whose round trips are timed; itself where it ends with this process, because there
    are none."""
    return store if ends_here(store) else Timed(store, telemetry)

"""A store that is heard when it is lost, and when it is back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stanchion.kernel.state import Batch, Crowded, Reply
from stanchion.stores.protocol import ends_here, is_lasting
from stanchion.stores.wrapped import Wrapped
from stanchion.telemetry.occurrences import Kind, Occurrence, Occurrences


class HeardStore(Wrapped):
    """A store whose failures are told, and its first answer after them. It changes nothing about
    either."""

    def __init__(
        self, store: Any, place: str, occurrences: Occurrences, clock: Callable[[], int]
    ) -> None:
        super().__init__(store)
        self._about = f"store:{place}" if place else "store"
        self._occurrences, self._clock = occurrences, clock
        self._is_lost = False

    def carry(self, batch: Batch) -> Reply:
        """Carry a batch out."""
        try:
            reply: Reply = self._store.carry(batch)
        except Exception as error:
            self._lost(error)
            raise
        if self._is_lost:
            self._back()
        return reply

    async def acarry(self, batch: Batch) -> Reply:
        """The same without blocking the event loop."""
        try:
            reply: Reply = await self._store.acarry(batch)
        except Exception as error:
            self._lost(error)
            raise
        if self._is_lost:
            self._back()
        return reply

    def _lost(self, error: Exception) -> None:
        """Tell that it is lost. Where too many wait for it, nothing is wrong with it."""
        if isinstance(error, Crowded):
            return
        self._is_lost = True
        why = str(error) if str(error) else f"it failed with `{type(error).__name__}`"
        self._tell(
            Kind.STORE_LOST, f"the state store cannot be used: {why}; what needs it is refused"
        )

    def _back(self) -> None:
        self._is_lost = False
        self._tell(Kind.STORE_BACK, "the state store answers again")

    def _tell(self, kind: Kind, text: str) -> None:
        self._occurrences.tell(
            Occurrence(kind=kind, at=self._clock(), text=text, about=self._about)
        )


def heard(store: Any, inner: Any, occurrences: Occurrences, clock: Callable[[], int]) -> Any:
    """What carries a store's batches (`inner`), and is heard when that fails; itself where the
    store ends with this process, because such a one is never lost."""
    if ends_here(store):
        return inner
    return HeardStore(inner, store.place if is_lasting(store) else "", occurrences, clock)

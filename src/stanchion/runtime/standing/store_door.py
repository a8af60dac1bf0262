"""The door before a store: every batch goes through it. It is told along the way how far the trail
has come, its time is taken, and operators hear when the store is lost, and when it is back."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter_ns
from typing import Any, Final

import msgspec

from stanchion.audit.anchors import Anchor, Moored, anchor_in, is_moored, put_of
from stanchion.audit.doubt import doubt
from stanchion.audit.layout import chains
from stanchion.kernel.counter_scopes import FLEET
from stanchion.kernel.state import ANCHOR, Batch, Crowded, Reply, StoreLost, key
from stanchion.runtime.standing.tenancy import DEFAULT, TENANT
from stanchion.stores.protocol import Store, at_once, ends_here, is_lasting
from stanchion.stores.wrapped import Wrapped
from stanchion.telemetry.catalogue import OTHER, STORE_FAILURES, STORE_SECONDS
from stanchion.telemetry.occurrences import Kind, Occurrence, Occurrences
from stanchion.telemetry.sinks import Telemetry

EVERY_S: Final = 0.05
"""How long after an anchor the next one is sent: a store that carries a thousand batches a second
writes twenty."""


class Anchoring:
    """Has batches keep, beside what they are for, how far the trail has come. It costs no trip of
    its own."""

    def __init__(
        self, store: Store, journal: Moored, now_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._store, self._journal, self._now_s = store, journal, now_s
        self._sent: Anchor | None = None
        self._next_s = 0.0
        self._moves: dict[tuple[str, str], bool] = {}

    def with_anchor(self, batch: Batch) -> Batch:
        """A batch with an anchor, where one is due."""
        anchor = self._journal.anchor
        if anchor is self._sent or anchor is None:
            return batch
        now_s = self._now_s()
        if now_s < self._next_s:
            return batch
        # Two threads may both send one, or the older one last: an anchor names what is there,
        # however old it is.
        self._sent, self._next_s = anchor, now_s + EVERY_S
        if not self._may_move(batch.tenant, anchor):
            return batch
        return msgspec.structs.replace(batch, puts=(*batch.puts, put_of(batch.tenant, anchor)))

    def _may_move(self, tenant: str, anchor: Anchor) -> bool:
        """Whether the store has seen no more of a chain than there is: then what it has seen stays,
        for who verifies. It is asked once for each tenant and chain."""
        known = self._moves.get((tenant, anchor.chain))
        if known is None:
            try:
                name = key(tenant, anchor.chain, ANCHOR)
                seen = anchor_in(name, self._store.read(name)[1])
            except StoreLost:
                return False
            known = self._moves[tenant, anchor.chain] = seen is None or seen.seq <= anchor.seq
        return known


def look_for_ends(store: Any, trail: Path, tenant: str) -> None:
    """Before a trail is gone on with: put into doubt what does not have what the store has seen of
    it. A store that cannot be asked now says so when it is needed."""
    if ends_here(store):
        return
    tenants = dict.fromkeys((FLEET, tenant if tenant else os.environ.get(TENANT, ""), DEFAULT))
    try:
        cells = [key(one, chain, ANCHOR) for chain in chains(trail) for one in tenants if one]
        doubt(
            trail,
            [seen for name in cells if (seen := anchor_in(name, store.read(name)[1])) is not None],
        )
    except (StoreLost, OSError):
        return


def anchor_last(store: Any, journal: Any, batch_id: str) -> None:
    """Tell the store how far a journal came that is closed now; one that is lost has the anchor
    before."""
    if not is_moored(journal) or ends_here(store) or journal.anchor is None:
        return
    try:
        store.carry(Batch(batch_id, FLEET, puts=(put_of(FLEET, journal.anchor),)))
    except StoreLost:
        return


KINDS: Final = {
    "sqlite": "sqlite",
    "postgresql": "postgres",
    "redis": "redis",
    "rediss": "redis",
    "unix": "redis",
}
"""What a store is, by how its place begins."""


class StoreDoor(Wrapped):
    """Carries batches out as the store does, and changes nothing about what it answers."""

    def __init__(
        self,
        store: Any,
        journal: Any,
        telemetry: Telemetry,
        occurrences: Occurrences,
        clock: Callable[[], int],
    ) -> None:
        super().__init__(store)
        place = store.place if is_lasting(store) else ""
        self._about = f"store:{place}" if place else "store"
        self._kind = KINDS.get(str(getattr(store, "place", "")).partition(":")[0], OTHER)
        self._with_anchor: Callable[[Batch], Batch] = (
            Anchoring(store, journal).with_anchor if is_moored(journal) else lambda batch: batch
        )
        self._telemetry, self._occurrences, self._clock = telemetry, occurrences, clock
        self._is_lost = False
        self.carry: Callable[[Batch], Reply] = partial(self._through, store.carry)

    @property
    def carry_at_once(self) -> Callable[[Batch], Reply | None] | None:
        """Carries out what need not be waited for; `None` where the store cannot."""
        inner = at_once(self._store)
        return None if inner is None else partial(self._through, inner)

    def _through(self, carry: Callable[[Batch], Any], batch: Batch) -> Any:
        """Carry a batch out, with an anchor where one is due."""
        begun = perf_counter_ns()
        try:
            reply = carry(self._with_anchor(batch))
        except Exception as error:
            self._failed(error)
            raise
        if reply is not None:
            self._answered(perf_counter_ns() - begun)
        return reply

    async def acarry(self, batch: Batch) -> Reply:
        """The same without blocking the event loop."""
        begun = perf_counter_ns()
        try:
            reply: Reply = await self._store.acarry(self._with_anchor(batch))
        except Exception as error:
            self._failed(error)
            raise
        self._answered(perf_counter_ns() - begun)
        return reply

    def _answered(self, took_ns: int) -> None:
        registry = self._telemetry.registry
        if registry is not None:
            try:
                observe = registry.remembered.get(self)
                if observe is None:
                    observe = registry.histogram(STORE_SECONDS, (self._kind,)).observe
                    registry.remembered[self] = observe
                observe(took_ns)
            except Exception as error:  # noqa: BLE001 - the batch is carried out
                self._telemetry.failed("store", error)
        if self._is_lost:
            self._is_lost = False
            self._tell(Kind.STORE_BACK, "the state store answers again")

    def _failed(self, error: Exception) -> None:
        """Count a failure, and tell that the store is lost. Where too many wait for it, nothing is
        wrong with it."""
        self._telemetry.count(STORE_FAILURES, self._kind)
        if not isinstance(error, Crowded):
            self._is_lost = True
            why = str(error) if str(error) else f"it failed with `{type(error).__name__}`"
            self._tell(
                Kind.STORE_LOST, f"the state store cannot be used: {why}; what needs it is refused"
            )

    def _tell(self, kind: Kind, text: str) -> None:
        self._occurrences.tell(
            Occurrence(kind=kind, at=self._clock(), text=text, about=self._about)
        )


def door_to(
    store: Any,
    journal: Any,
    telemetry: Telemetry,
    occurrences: Occurrences,
    clock: Callable[[], int],
) -> Any:
    """What carries a store's batches; itself where it ends with this process: it is never lost, and
    has no trips."""
    if ends_here(store):
        return store
    return StoreDoor(store, journal, telemetry, occurrences, clock)

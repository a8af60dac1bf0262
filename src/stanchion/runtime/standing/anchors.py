"""Anchoring: batches that go to the store anyway tell it how far the trail has come."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.audit.anchors import Anchor, Moored, anchor_in, is_moored, put_of
from stanchion.audit.doubt import doubt
from stanchion.audit.layout import chains
from stanchion.kernel.scopes import FLEET
from stanchion.kernel.state import ANCHOR, Batch, StoreLost, key
from stanchion.runtime.standing.tenancy import DEFAULT, TENANT
from stanchion.stores.protocol import Store, ends_here

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

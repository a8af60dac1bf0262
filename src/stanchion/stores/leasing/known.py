"""What is known of records that the whole fleet shares: batches of tenants do not ask for it anew
each time."""

from __future__ import annotations

import itertools
import os
import time
from typing import Final

import msgspec

from stanchion.kernel.scopes import FLEET
from stanchion.kernel.state import Batch, Expect
from stanchion.stores.leasing.parts import TAGS

GOOD_FOR_S: Final = 1.0
"""How long it is taken to be as it was last seen: as long as a run that has nothing to send takes
the gates to be."""

MOST_KNOWN: Final = 4_096


class Knowing:
    """Which expectations of shared records were found true lately."""

    __slots__ = ("_confirmed", "_met", "_numbers", "_prefix")

    def __init__(self) -> None:
        self._confirmed: dict[Expect, float] = {}
        self._met: set[str] = set()
        self._prefix = os.urandom(8).hex()
        self._numbers = itertools.count()

    def part(self, batch: Batch) -> tuple[Batch, Batch | None]:
        """A tenant's batch without what it expects of the fleet, and a batch that asks for that
        first, where nobody has lately."""
        if batch.tenant == FLEET or not batch.expects:
            return batch, None
        shared = [expect for expect in batch.expects if expect[0].startswith(TAGS)]
        if not shared:
            return batch, None
        own = tuple([expect for expect in batch.expects if not expect[0].startswith(TAGS)])
        rest = msgspec.structs.replace(batch, expects=own)
        now = time.monotonic()
        met = batch.tenant in self._met
        if met and all(now < self._confirmed.get(expect, 0.0) for expect in shared):
            return rest, None
        self._meet(batch.tenant)
        return rest, Batch(
            f"fleet-{self._prefix}-{next(self._numbers)}", FLEET, expects=tuple(shared)
        )

    def _meet(self, tenant: str) -> None:
        """Note a tenant: what is known of the fleet is good for those alone of whom this process
        has seen something in the store, by which it notices in every batch that it was lost."""
        if len(self._met) >= MOST_KNOWN:
            self._met.clear()
        self._met.add(tenant)

    def confirm(self, asked: Batch) -> None:
        """Remember that what was asked is true."""
        if len(self._confirmed) >= MOST_KNOWN:
            self._confirmed.clear()
        until = time.monotonic() + GOOD_FOR_S
        for expect in asked.expects:
            self._confirmed[expect] = until

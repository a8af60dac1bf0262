"""Owning: the guards of a policy that is put in force get to know where the shield keeps what is its own."""

from __future__ import annotations

from typing import Any

import msgspec

from stanchion.kernel.contract.learning import PREPARES, TOLD_PLACES, Places
from stanchion.policy.compiled import CompiledPolicy, Seat
from stanchion.policy.scan_cache import ScanCache


def owned(policy: CompiledPolicy, own: Places, kept: ScanCache) -> CompiledPolicy:
    """The same policy, hash included, whose guards keep agents off these places and take compiled patterns from there.

    The places are no part of the hash: it says what a policy means, and that is the same on every host.
    """
    seats = tuple([_at_home(seat, own, kept) for seat in policy.seats])
    made = CompiledPolicy(policy.file, seats, policy.calls, policy.undos, policy.files, policy.hash)
    made.reader.prepare(kept)
    return made


def _at_home(seat: Seat, own: Places, kept: ScanCache) -> Seat:
    guard = at_home(seat.placed.guard, own, kept)
    if guard is seat.placed.guard:
        return seat
    return msgspec.structs.replace(seat, placed=msgspec.structs.replace(seat.placed, guard=guard))


def at_home(guard: Any, own: Places, kept: ScanCache) -> Any:
    """A guard that is prepared, and knows the shield's own places, where it wants to; others stay as they are."""
    preparing = PREPARES.of(guard)
    if preparing is not None:
        preparing.prepare(kept)
    wanting = TOLD_PLACES.of(guard)
    return guard if wanting is None else wanting.told(own)

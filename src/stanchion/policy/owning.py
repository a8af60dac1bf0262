"""Owning: the guards of a policy that is put in force get to know where the shield keeps what is its own."""

from __future__ import annotations

from typing import Any

import msgspec

from stanchion.guards._own import OwnPlaces
from stanchion.guards.files import Files
from stanchion.guards.files.real import RealFiles
from stanchion.guards.secrets import Secrets
from stanchion.guards.shell import Shell
from stanchion.policy.compiled import CompiledPolicy, Seat
from stanchion.policy.scan_cache import ScanCache


def owned(policy: CompiledPolicy, own: OwnPlaces, kept: ScanCache) -> CompiledPolicy:
    """The same policy, hash included, whose guards keep agents off these places and take compiled patterns from there.

    The places are no part of the hash: it says what a policy means, and that is the same on every host.
    """
    for seat in policy.seats:
        if isinstance(seat.placed.guard, Secrets):
            seat.placed.guard.prepare(kept)
    seats = tuple([_told(seat, own) for seat in policy.seats])
    made = CompiledPolicy(policy.file, seats, policy.calls, policy.undos, policy.files, policy.hash)
    made.reader.prepare(kept)
    return made


def _told(seat: Seat, own: OwnPlaces) -> Seat:
    guard = told(seat.placed.guard, own)
    if guard is seat.placed.guard:
        return seat
    return msgspec.structs.replace(seat, placed=msgspec.structs.replace(seat.placed, guard=guard))


def told(guard: Any, own: OwnPlaces) -> Any:
    """A guard that knows the shield's own places; others stay as they are."""
    match guard:
        case Files() | Shell():
            return guard.told(own)
        case RealFiles():
            return RealFiles(guard.files.told(own))
        case _:
            return guard

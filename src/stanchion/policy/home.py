"""Owning: the guards of a policy that is put in force get to know where the shield keeps what is
its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from stanchion.kernel.contract.powers import having
from stanchion.policy.compiled import CompiledPolicy, Seat
from stanchion.policy.scan_cache import ScanCache

if TYPE_CHECKING:
    from stanchion.kernel.contract.values import Places


class Home:
    """A shield's own places, and where it keeps compiled patterns."""

    def __init__(self, own: Places, kept: ScanCache, prepares: bool = True) -> None:
        self._own = own
        self._kept = kept
        self._prepares = prepares

    def policy(self, policy: CompiledPolicy) -> CompiledPolicy:
        """The same policy, hash included, whose guards keep agents off these places and take what
        they compile from there.

        The places are no part of the hash: it says what a policy means, and that is the same on
        every host.
        """
        seats = tuple([self._seat(seat) for seat in policy.seats])
        return CompiledPolicy(
            policy.file, seats, policy.calls, policy.undos, policy.files, policy.hash
        )

    def _seat(self, seat: Seat) -> Seat:
        guard = self.guard(seat.placed.guard)
        if guard is seat.placed.guard:
            return seat
        return msgspec.structs.replace(
            seat, placed=msgspec.structs.replace(seat.placed, guard=guard)
        )

    def guard(self, guard: Any) -> Any:
        """A guard that is prepared, and knows these places, where it wants to; others stay as they
        are."""
        preparing = having(guard, "prepare") if self._prepares else None
        if preparing is not None:
            preparing.prepare(self._kept)
        wanting = having(guard, "told")
        return guard if wanting is None else wanting.told(self._own)

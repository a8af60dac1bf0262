"""The error for a policy that would let more through than the one in force."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from stanchion.policy.errors import Fault, PolicyError

if TYPE_CHECKING:
    from stanchion.policy.compiled import CompiledPolicy
    from stanchion.policy.loosening import Loosening

LOOSENS: Final = "it loosens what is in force"
UNKNOWN: Final = "it is not known to be the same as what is in force, or stricter"


class PolicyLoosens(PolicyError):
    """A policy would let more through than the one in force, and nobody who may has trusted it;
    nothing of it was applied. `loosenings` says by what, `policy` is what was refused."""

    def __init__(self, place: str, policy: CompiledPolicy, loosenings: Sequence[Loosening]) -> None:
        how = (
            f"an operator has to trust it with `stanchion policy trust {place}` (hash "
            f"{policy.hash})"
        )
        faults = [
            Fault(place, f"{LOOSENS if each.sure else UNKNOWN}: {each}") for each in loosenings
        ]
        super().__init__([*faults, Fault(place, f"it does not come into force: {how}")])
        self.policy = policy
        self.loosenings = tuple(loosenings)

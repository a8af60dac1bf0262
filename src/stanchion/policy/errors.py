"""What is wrong with a policy, said so that its author can put it right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from stanchion.policy.compiled import CompiledPolicy
    from stanchion.policy.loosening import Loosening


class Fault(msgspec.Struct, frozen=True, gc=False):
    """One mistake: where it is and what to do about it."""

    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


class GuardFault(ValueError):
    """An option of a guard that no schema can find wrong; `path` leads to it."""

    def __init__(self, message: str, *path: str) -> None:
        super().__init__(message)
        self.path = path


class PolicyError(ValueError):
    """A policy cannot be used; nothing of it was applied."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = tuple(faults)


class PolicyLoosens(PolicyError):
    """A policy would let more through than the one in force, and nobody who may has trusted it; nothing of it was
    applied. `loosenings` says by what, `policy` is what was refused."""

    def __init__(self, place: str, policy: CompiledPolicy, loosenings: Sequence[Loosening]) -> None:
        how = f"an operator has to trust it with `stanchion policy trust {place}` (hash {policy.hash})"
        faults = [Fault(place, f"it loosens what is in force: {loosening}") for loosening in loosenings]
        super().__init__([*faults, Fault(place, f"it does not come into force: {how}")])
        self.policy = policy
        self.loosenings = tuple(loosenings)

"""What is wrong with a policy, said so that its author can put it right."""

from __future__ import annotations

import msgspec

from stanchion.kernel.shown import StanchionError


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


class PolicyError(StanchionError, ValueError):
    """A policy cannot be used; nothing of it was applied."""

    def __init__(self, faults: list[Fault]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = tuple(faults)


def refusal(place: object, message: str) -> PolicyError:
    """The error for one mistake."""
    return PolicyError([Fault(str(place), message)])

"""What a store holds, as it may be shown: its keys have names as they are, with the secrets that
stand in them."""

from __future__ import annotations

from functools import cache
from typing import TypeVar

from stanchion.policy.veil import Veil

T = TypeVar("T")


def veiled(value: T) -> T:
    """A value of a store with the secrets hidden that the shipped kinds know, whatever policy it
    was written under."""
    return _veil().data(value)


@cache
def _veil() -> Veil:
    from stanchion.guards.secrets import Secrets

    return Veil((Secrets(),))

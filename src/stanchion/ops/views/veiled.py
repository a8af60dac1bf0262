"""What may be shown: values with the secrets in them hidden, and their JSON, one a line."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar

import msgspec

from stanchion.kernel.shown import json_safe
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


def json_line(value: Any) -> bytes:
    """A value as one line of JSON that a terminal can show."""
    return json_safe(msgspec.json.encode(value)) + b"\n"

"""Checking a journal by its bytes alone: a second reading of the format that shares no code with the writer."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence


def first_break(bodies: Sequence[bytes], head: str) -> int | None:
    """The first record that does not fit the one before it, the number of records if the head does not fit.

    `None` where every record names the hash of the one before, from 64 zeros to the head.
    """
    expected = "0" * 64
    for at, body in enumerate(bodies):
        try:
            named = json.loads(body)["prev"]
        except (ValueError, KeyError, TypeError):
            return at
        if named != expected:
            return at
        expected = hashlib.sha256(body).hexdigest()
    return None if expected == head else len(bodies)


def with_one_bit_changed(bodies: Sequence[bytes], at: int) -> list[bytes]:
    """The same records, with one bit of the one at `at` turned over, as a forger would leave them."""
    changed = bytearray(bodies[at])
    changed[len(changed) // 2] ^= 1
    return [*bodies[:at], bytes(changed), *bodies[at + 1 :]]

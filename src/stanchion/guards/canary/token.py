"""Canary tokens: made of a key, a run and a label, and known again by whoever has the key.

A token is `st7-` and letters that look drawn at random: a check of key, tenant, owner and label,
then the label itself, hidden by the check. So nothing has to be kept: its owner and its label come
out of it again in any process.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

HEAD: Final = "st7"
CHECK: Final = 7
"""How many bytes of a token are its check."""
ROOMS: Final = (8, 13, 18, 23, 28)
"""How long labels are filled up to: with the check each gives whole letters."""
SIZES: Final = tuple([(CHECK + room) * 8 // 5 for room in ROOMS])
"""How many letters follow the head."""
LASTING: Final = ""
"""The owner of a token that belongs to no run."""


class LabelError(ValueError):
    """A label that no token can carry."""


def token(key: str, tenant: str, owner: str, label: str) -> str:
    """The canary with a label of a run, or of a whole tenant (`LASTING`): always the same."""
    data = label.encode("utf-8", "replace")
    if not label.isprintable() or not 0 < len(data) <= ROOMS[-1]:
        raise LabelError(
            f"the label is `{label}`: give one to {ROOMS[-1]} plain characters on one line"
        )
    room = next(room for room in ROOMS if len(data) <= room)
    filled = data.ljust(room, b"\0")
    secret = _secret(key, tenant)
    check = _check(secret, owner, filled)
    body = base64.b32encode(check + _masked(secret, check, filled)).decode("ascii").lower()
    return f"{HEAD}-{body}"


def label_of(body: str, key: str, tenant: str, owners: Iterable[str]) -> str | None:
    """The label of the canary that letters after the head begin with, if it belongs to one of these
    owners."""
    secret = _secret(key, tenant)
    for size in SIZES:
        if len(body) < size:
            return None
        data = base64.b32decode(body[:size].upper())
        check, hidden = data[:CHECK], data[CHECK:]
        filled = _masked(secret, check, hidden)
        if any(hmac.compare_digest(check, _check(secret, owner, filled)) for owner in owners):
            return filled.rstrip(b"\0").decode("utf-8", "replace")
    return None


@lru_cache(maxsize=256)
def _secret(key: str, tenant: str) -> bytes:
    return hashlib.sha256(f"stanchion canary\0{key}\0{tenant}".encode("utf-8", "replace")).digest()


def _check(secret: bytes, owner: str, filled: bytes) -> bytes:
    said = b"check\0" + owner.encode("utf-8", "replace") + b"\0" + filled
    return hmac.digest(secret, said, "sha256")[:CHECK]


def _masked(secret: bytes, check: bytes, data: bytes) -> bytes:
    mask = hmac.digest(secret, b"mask\0" + check, "sha256")
    return bytes([one ^ other for one, other in zip(data, mask, strict=False)])

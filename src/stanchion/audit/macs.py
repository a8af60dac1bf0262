"""Marks of single records: each is made with a key of its own, which is forgotten for the next."""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import Final

_NEXT: Final = b"stanchion-next:"


def first_key(secret: bytes, chain: str, seq: int) -> bytes:
    """The key of the first record of an epoch, which has that number in its chain."""
    return hmac.digest(secret, f"stanchion-epoch:{chain}:{seq}".encode(), "sha256")


def mac_of(key: bytes, digest: str) -> str:
    """The mark of the record with that hash."""
    return hmac.digest(key, digest.encode(), "sha256").hex()


def next_key(key: bytes) -> bytes:
    """The key of the record behind; from it nobody gets back to this one."""
    return sha256(_NEXT + key).digest()


def later_key(key: bytes, count: int) -> bytes:
    """The key of the record that many behind."""
    for _ in range(count):
        key = next_key(key)
    return key


def is_mac(key: bytes, digest: str, mac: str) -> bool:
    """Whether a mark is that of the record with that hash."""
    return hmac.compare_digest(mac_of(key, digest), mac)

"""Marks of single records: whether each was made with the key that is forgotten behind it."""

from __future__ import annotations

import hmac
import re
from enum import Enum, auto
from hashlib import sha256
from typing import Final

from .seals import Key

_EPOCH: Final = re.compile(r"([0-9a-f]{16}):(0|[1-9][0-9]{0,8})")


def epoch_of(said: str, key: Key) -> int | None:
    """The number of an epoch of this key; `None` where it is of another, or none."""
    match = _EPOCH.fullmatch(said)
    return None if match is None or match[1] != key.id else int(match[2])


class Marking(Enum):
    """What is to be said of a record's mac."""

    FITS = auto()
    MISSING = auto()
    WRONG = auto()
    OTHER_KEY = auto()
    EARLIER = auto()
    """It is of an epoch before the one that the key given can check."""


class Macs:
    """Goes along a chain and judges the mac of each record, with the key from which all of them
    follow."""

    def __init__(self, key: Key, chain: str) -> None:
        self._key, self._chain = key, chain
        self._next: bytes | None = None
        self._why = Marking.MISSING

    def judge(self, seq: int, digest: str, mac: str | None, epoch: str | None) -> Marking:
        """Say whether the next record bears its mac; `epoch` is what it says of an epoch that
        begins with it."""
        if epoch is not None:
            self._begin(seq, epoch)
        if self._next is None:
            return self._why
        expected = hmac.digest(self._next, digest.encode(), "sha256").hex()
        self._next = sha256(b"stanchion-next:" + self._next).digest()
        if mac is None:
            return Marking.MISSING
        return Marking.FITS if hmac.compare_digest(mac, expected) else Marking.WRONG

    def over_gap(self) -> None:
        """Records are not there: what stands behind them begins an epoch of its own, or cannot be
        judged."""
        self._next, self._why = None, Marking.MISSING

    def _begin(self, seq: int, epoch: str) -> None:
        number = epoch_of(epoch, self._key)
        self._next = None
        if number is None:
            self._why = Marking.OTHER_KEY
            return
        if number < self._key.epoch:
            self._why = Marking.EARLIER
            return
        secret = self._key.secret_of(number)
        if secret is None:
            self._why = Marking.WRONG
            return
        self._next = hmac.digest(secret, f"stanchion-epoch:{self._chain}:{seq}".encode(), "sha256")

"""Answers that are kept: what a deep rule has said of the same content before, for one tenant."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from typing import Any, Final

import msgspec

from stanchion.kernel.lookups import Answered
from stanchion.locks import Lock

LARGEST: Final = 65_536
"""An answer of more bytes is not kept."""

_encode: Final = msgspec.msgpack.Encoder(order="deterministic").encode

Key = bytes


class KeptAnswers:
    """The newest answers of a shield's deep rules, so many at the most."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = Lock()
        self._kept: OrderedDict[Key, Answered] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Key) -> Answered | None:
        """What was answered before; the very answer."""
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def put(self, key: Key, answer: Answered) -> None:
        """Keep an answer; the one that was asked for longest ago makes way."""
        if not self.most or not _small(answer.value):
            return
        with self._lock:
            self._kept[key] = answer
            self._kept.move_to_end(key)
            while len(self._kept) > self.most:
                self._kept.popitem(last=False)


def key_of(tenant: str, rule: str, version: str, content: Any) -> Key | None:
    """By what an answer is found again; `None` where the content cannot be written down, and so not
    be compared."""
    try:
        written = _encode((tenant, rule, version, content))
    except (TypeError, ValueError, OverflowError, RecursionError, UnicodeEncodeError):
        return None
    return blake2b(written, digest_size=24).digest()


def _small(value: Any) -> bool:
    try:
        return len(_encode(value)) <= LARGEST
    except (TypeError, ValueError, OverflowError, RecursionError, UnicodeEncodeError):
        return False

"""Journals: where records go, in order, each bound to the one before."""

from __future__ import annotations

import threading
from collections import deque
from typing import Final, NamedTuple, Protocol

import msgspec

from holdfast.audit.record import Entry, encode, entry_of
from holdfast.kernel.decision import Decision
from holdfast.kernel.events import Moment

GENESIS: Final = "0" * 64
"""What stands for the hash before the first record."""


class Kept(NamedTuple):
    """A record as it is kept: its bytes, their hash, and beside them how long the decision took."""

    body: bytes
    hash: str
    took_ns: int

    def read(self) -> Entry:
        """The record parsed back from its bytes."""
        return msgspec.json.decode(self.body, type=Entry)


class Journal(Protocol):
    """Takes records; raises if it cannot, so that nothing goes ahead unrecorded."""

    def write(self, moment: Moment, decision: Decision, took_ns: int, notes: tuple[str, ...] = ()) -> bytes:
        """Write one decision down; gives the record's canonical bytes."""

    def close(self) -> None:
        """Let go of files."""


class MemoryJournal:
    """Keeps the newest records in memory; older ones leave at the other end and are counted."""

    def __init__(self, capacity: int = 10_000) -> None:
        if capacity < 1:
            raise ValueError(f"capacity is `{capacity}`: give at least 1")
        from hashlib import sha256

        self._sha256 = sha256
        self._kept: deque[tuple[bytes, str, int]] = deque(maxlen=capacity)
        self._lock = threading.Lock()
        self.head = GENESIS
        self.written = 0

    def write(self, moment: Moment, decision: Decision, took_ns: int, notes: tuple[str, ...] = ()) -> bytes:
        """Write one decision down, at the same cost whatever is already kept."""
        with self._lock:
            body = encode(entry_of(moment, decision, self.written, self.head, notes))
            self.head = head = self._sha256(body).hexdigest()
            self.written += 1
            self._kept.append((body, head, took_ns))
            return body

    def kept(self) -> tuple[Kept, ...]:
        """The records still here, oldest first."""
        with self._lock:
            return tuple([Kept(*one) for one in self._kept])

    @property
    def dropped(self) -> int:
        """How many records have left to make room."""
        return self.written - len(self._kept)

    def close(self) -> None:
        """Nothing to let go of."""

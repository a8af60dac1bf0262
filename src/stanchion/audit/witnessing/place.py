"""What a place of a witness does, wherever it is."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Final, NamedTuple, Protocol

import msgspec

from stanchion import typed
from stanchion.audit.layout import ChainHead
from stanchion.audit.verifying.witness import Witness
from stanchion.kernel.regex import regex
from stanchion.kernel.shown import StanchionError

# What goes wrong with the place of a witness.


class BadPlace(StanchionError, ValueError):
    """A place that no witness can be kept at; its text says what to do."""


class Unreachable(StanchionError, OSError):
    """A place that cannot be written or read now; its text says why. Trying again may help."""


# The lines of a witness: what one says, and which one follows.

GENESIS: Final = "0" * 64
START: Final = b'{"witness":'

OTHERS: Final = (
    "another witness writes there, too: give each trail a place of its own, or stop one of them"
)
PUT_BACK: Final = (
    "the last line that was written is missing: somebody has put an earlier witness back"
)


class WitnessEntry(msgspec.Struct, frozen=True):
    """What is to be written: heads as they stand in their files, when, in how many seconds the next
    comes (0: nobody knows), and the line that this witness wrote before."""

    heads: tuple[bytes, ...]
    at_ms: int
    every_s: int
    mine: bytes = b""


class WrittenLine(NamedTuple):
    """The line that was written, and what is odd about the place."""

    line: bytes
    note: str = ""


def hash_of(line: bytes) -> str:
    """What the next line names this one by."""
    return sha256(line).hexdigest() if line else GENESIS


def line_of(entry: WitnessEntry, prev: str) -> bytes:
    """A line, without its line feed."""
    heads = b",".join(entry.heads)
    return b'{"witness":1,"at":%d,"every":%d,"prev":"%b","heads":[%b]}' % (
        entry.at_ms,
        entry.every_s,
        prev.encode(),
        heads,
    )


def number_in(head: bytes) -> int | None:
    """The number of the record that a head names; None where it is no head that fits into a
    line."""
    try:
        return None if b"\n" in head else typed.decode(head, ChainHead).seq
    except msgspec.MsgspecError:
        return None


def following(entry: WitnessEntry, newest: bytes, holds: Callable[[bytes], bool]) -> WrittenLine:
    """The line that comes behind the newest one of a place. Where the place has lost a line of this
    witness, the new one is bound to the lost one: whoever verifies sees that it is missing."""
    prev, note = newest, ""
    if entry.mine and entry.mine != newest:
        if holds(entry.mine):
            note = OTHERS
        else:
            prev, note = entry.mine, PUT_BACK
    return WrittenLine(line_of(entry, hash_of(prev)), note)


def newest_in(tail: bytes) -> bytes:
    """The newest whole line of a witness in the end of a file; empty where there is none."""
    whole = tail[: tail.rfind(b"\n") + 1]
    return next(
        (
            line
            for line in reversed(whole.split(b"\n"))
            if line.startswith(START) and line.endswith(b"}")
        ),
        b"",
    )


_PASSWORD: Final = regex(r"//[^/@]*@")


def shown(text: str) -> str:
    """Text without the names and passwords that URLs in it hold."""
    return _PASSWORD.sub("//…@", text)


class WitnessPlace(Protocol):
    """Where a witness is kept."""

    @property
    def name(self) -> str:
        """Its name, as it may be shown."""

    def append(self, entry: WitnessEntry) -> WrittenLine:
        """Write a line behind the newest one, to last; raises `Unreachable` or `BadPlace`."""

    def why_copy(self, uid: int | None) -> str:
        """Why a user could rewrite what is kept there; empty where they could not."""

    def witness(self, uid: int | None) -> Witness:
        """All that was written there; raises `Unreachable`, or `CannotVerify` where it is no
        witness."""

    def close(self) -> None:
        """Let go of what is held for writing."""

"""What is noted on a walk along a chain."""

from __future__ import annotations

from typing import NamedTuple

from .macs import Marking
from .records import Retired
from .seals import Sealing


class Segment(NamedTuple):
    """A segment as it was read: its number, its first and last record, and the hashes that bind
    it."""

    number: int
    first: int
    last: int
    prev: str
    hash: str


class Gap(NamedTuple):
    """Segments that are not there, between two that are: the record that should follow, and the one
    that does."""

    first: int
    last: int
    seq: int
    prev: str
    next_seq: int
    next_prev: str


class Stop(NamedTuple):
    """The first line that does not follow: where it is, its bytes, and the record that should stand
    there."""

    number: int
    line: int
    raw: bytes
    complete: bool
    seq: int
    prev: str
    why: str = ""
    """What is wrong with a record that does follow, but stands in the wrong place."""


class Claim(NamedTuple):
    """What a checkpoint, a store or a witness says of a chain: it has that record, with that hash.
    `why` is what its own writer saw, who lost it."""

    chain: str
    seq: int
    hash: str
    by: str
    at: int
    why: str = ""


class Naming(NamedTuple):
    """A retired segment, and the record that names it."""

    entry: Retired
    seq: int
    number: int
    line: int


class Unsaid(NamedTuple):
    """Records in a row whose content is not there, or is another: their first and last number, and
    where the first stands."""

    first: int
    last: int
    number: int
    line: int
    changed: bool = False


class Erasure(NamedTuple):
    """Records of a chain that another record says were erased; `seq` is that one's number in its
    own chain."""

    chain: str
    first: int
    last: int
    seq: int


class BadSeal(NamedTuple):
    """A checkpoint whose seal is not one of the key."""

    seq: int
    number: int
    line: int
    sealing: Sealing


class BadMac(NamedTuple):
    """A record whose mac is not one of the key."""

    seq: int
    number: int
    line: int
    marking: Marking

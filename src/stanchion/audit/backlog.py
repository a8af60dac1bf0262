"""The backlog of a trail: how much this process has written, and what of it is not on the disk
yet."""

from __future__ import annotations

from typing import NamedTuple

from stanchion.audit.trail import Trail


class Backlog(NamedTuple):
    """How many records this process has written to a trail, and how many bytes of them wait for the
    disk."""

    written: int
    waiting_bytes: int


def backlog_of(trail: Trail) -> Backlog:
    """How a trail stands. The numbers are read one after the other, so they may be a record
    apart."""
    return Backlog(trail._written - trail._marks.first, max(0, trail._bytes - trail._synced_bytes))

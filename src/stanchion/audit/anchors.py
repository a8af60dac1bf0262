"""Anchors: how far a trail had come, kept where its folder is not, so that a missing end is
missed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Protocol, TypeGuard

from stanchion.kernel.regex import regex
from stanchion.kernel.state import ANCHOR, Put, When, key
from stanchion.kernel.tuples import NamedTuple

_CELL: Final = regex(r"\{.*\}([0-9a-f]{16}):" + ANCHOR)


class Anchor(NamedTuple):
    """A record that is on the disk: its chain, its number, its hash, and which folder of which host
    it is in."""

    chain: str
    seq: int
    hash: str
    place: str


class Moored(Protocol):
    """A journal that says how far it is certain to have come."""

    @property
    def anchor(self) -> Anchor | None:
        """The newest record that would outlive a power failure; `None` where there is none yet. It
        costs nothing to ask, and is another object when it has moved."""


def is_moored(journal: Any) -> TypeGuard[Moored]:
    """Whether a journal says how far it has come, or passes the question on to one that does."""
    return hasattr(journal, "anchor")


def place_of(folder: Path) -> str:
    """How anchors name a trail's folder: one store may serve many hosts, each with a trail of its
    own."""
    host = os.uname().nodename
    return sha256(f"{host}:{folder.absolute()}".encode()).hexdigest()[:16]


def put_of(tenant: str, anchor: Anchor) -> Put:
    """What a batch of a tenant writes to keep an anchor."""
    value = [anchor.seq, anchor.hash, anchor.place]
    return (key(tenant, anchor.chain, ANCHOR), value, When.JUDGED, 0, 0)


def anchors_of(
    cells: Iterable[tuple[str, Any]], folder: Path, chains: Iterable[str]
) -> list[tuple[str, int, str]]:
    """The anchors among the cells of a store that are about the trail in a folder, which has those
    chains: chain, number and hash. Chains that are not there any more belong to it if they were
    written in this folder, or in the one that those which are there were written in: it may be a
    copy."""
    found = [anchor for name, value in cells if (anchor := anchor_in(name, value)) is not None]
    there = set(chains)
    places = {place_of(folder), *[anchor.place for anchor in found if anchor.chain in there]}
    return [anchor[:3] for anchor in found if anchor.chain in there or anchor.place in places]


def anchor_in(name: str, value: Any) -> Anchor | None:
    """The anchor that a cell of a store holds; `None` where it holds none."""
    cell = _CELL.fullmatch(name)
    match value:
        case [int(seq), str(digest), str(place)] if cell is not None:
            return Anchor(cell[1], seq, digest, place)
    return None

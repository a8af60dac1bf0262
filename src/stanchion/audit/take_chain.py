"""Taking a chain of a trail: one that nobody writes, or a new one; and what the others have come
to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from stanchion.audit.chain import Chain, Heads, Lost
from stanchion.audit.chain_end import Unfit
from stanchion.audit.doubt import doubted
from stanchion.audit.heads import read_head
from stanchion.audit.keys import Key
from stanchion.audit.layout import chains


def take_chain(
    trail: Path, key: Key | None, clock: Callable[[], int], names: Callable[[], str]
) -> tuple[Chain, dict[str, str], Lost]:
    """The first chain that nobody writes and that is as its writer left it, or a new one; those
    that are unfit, with why; and what is to be said of those in doubt."""
    unfit: dict[str, str] = {}
    doubts = doubted(trail)
    for name in chains(trail):
        if name in doubts:
            unfit[name] = "it is in doubt"
            continue
        try:
            chain = Chain.resume(trail, name, key, clock)
        except (Unfit, OSError) as error:
            unfit[name] = str(error)
            continue
        if chain is not None:
            return chain, unfit, tuple(doubts.values())
    return Chain.begin(trail, names(), key, clock), unfit, tuple(doubts.values())


def heads_beside(trail: Path, own: str) -> Heads:
    """How far the other chains of a trail have come, by their heads."""
    heads = {}
    for name in chains(trail):
        head = read_head(trail / name) if name != own else None
        if head is not None:
            heads[name] = (head.seq, head.hash)
    return heads

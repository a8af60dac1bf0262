"""Words of a refusal that still say whether a person was asked, for hosts that are told of it by a
report."""

from __future__ import annotations

from stanchion.hosts.contract.refusal import Refusal


class Waiting(str):
    """The words of a refusal that ends when a person answers its ticket: a host that can pause does
    so here."""

    __slots__ = ()


def in_words(refusal: Refusal) -> str:
    """The words of a refusal; `Waiting` where a person was asked, and not where nobody could be."""
    return Waiting(refusal) if refusal.waits and refusal.ticket is not None else str(refusal)

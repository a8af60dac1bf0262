"""What is carried along with a decision: records of the runtime's own, which ride on the decision's
batch."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Protocol

from stanchion.kernel.findings import Finding
from stanchion.kernel.state import Expect, Put, Reply


class CarriedRecords(Protocol):
    """Records that belong to no guard, read and written by the trip that a decision makes in any
    case. A decision does not rest on what they hold but by the answers that guards were given,
    which are recorded: it is made again without them.
    """

    def expects(self) -> list[Expect]:
        """How they are known to be, asked before each try; something, so that the trip is made."""

    def puts(self, findings: tuple[Finding, ...], /) -> tuple[Put, ...]:
        """What becomes of them, by all that was found before the store is asked, in shadow mode as
        well."""

    def moved(self, reply: Reply, /) -> AbstractSet[str]:
        """Take over what has changed; gives the keys of those that did. What was recalled is asked
        for again then."""

    def kept(self, reply: Reply, /) -> None:
        """The store has carried the batch out."""

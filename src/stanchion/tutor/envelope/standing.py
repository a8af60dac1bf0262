"""How good a reply is before it is used: the proxy by which candidates are compared.

First come replies whose moves are all legal. Among these a claim that is proven comes before one
that is refuted, that before an action that can bring evidence, that before an open claim and what
brings nothing, and an ill-typed one comes last. A reply with several moves is as good as its worst.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from stanchion.readings.claims.claim import CheckVerdict
from stanchion.tutor.envelope.laws import Foreseen
from stanchion.tutor.law.verdicts import MoveVerdict

BRINGS: Final = 2
NOTHING: Final = 3
RANKS: Final = {
    CheckVerdict.PROVABLE: 0,
    CheckVerdict.REFUTABLE: 1,
    CheckVerdict.UNDECIDABLE: NOTHING,
    CheckVerdict.ILL_TYPED: 4,
}
ILLEGAL: Final = 10
"""What a move that is not legal ranks below all that are."""


class Stood(msgspec.Struct, frozen=True):
    """What would come of a reply, in all."""

    rank: int = 0
    check: CheckVerdict | None = None
    names: frozenset[str] = frozenset()
    """The names of all verdicts on it."""
    why: str = ""
    missing: str = ""

    @property
    def undecided(self) -> bool:
        """Whether it claims what nobody can decide."""
        return self.check is CheckVerdict.UNDECIDABLE


def stood(foreseen: Sequence[Foreseen], unread: str, open_before: bool) -> Stood:
    """What would come of a reply's moves; `unread` is what is wrong with one that has none.

    `open_before` says that a claim was open earlier in the turn, under a law that goes by words:
    another claim is taken as open, too, for asking until some words slip through would prove what
    is not so.
    """
    if not foreseen:
        ill = CheckVerdict.ILL_TYPED
        return Stood(ILLEGAL + RANKS[ill], ill, frozenset({ill.name}), unread)
    seen = [_reworded(one) if open_before else one for one in foreseen]
    worst = max(seen, key=_rank)
    names = {one.check.name for one in seen if one.check is not None} | {
        one.move.name for one in seen
    }
    return Stood(_rank(worst), worst.check, frozenset(names), worst.why, worst.missing)


def _reworded(one: Foreseen) -> Foreseen:
    if one.check in (CheckVerdict.PROVABLE, CheckVerdict.REFUTABLE):
        return msgspec.structs.replace(
            one, check=CheckVerdict.UNDECIDABLE, missing="Evidence observation"
        )
    return one


def _rank(one: Foreseen) -> int:
    rank = BRINGS if one.brings else NOTHING if one.check is None else RANKS[one.check]
    return rank + (0 if one.move is MoveVerdict.LEGAL else ILLEGAL)

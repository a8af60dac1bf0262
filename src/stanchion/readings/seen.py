"""A call as a run's history keeps it: a short text, in which everything has its place."""

from __future__ import annotations

from typing import Final

import msgspec

from stanchion.readings.fingerprint import PAIRS

ID: Final = slice(0, 6)
TOOL: Final = slice(6, 10)
EXACT: Final = slice(10, 18)
LOOSE: Final = slice(18, 22)
MARKS: Final = slice(22, 24)
OUTCOME: Final = slice(24, 32)
SHORTEST: Final = 32
"""Where the sketch begins. It may be empty; behind it, after a point, stands the id that a call had
first."""

UNKNOWN: Final = "-" * 8
"""What is written where it is not known what came of a call."""

NUMBERS: Final = {pair: number for number, pair in enumerate(PAIRS)}
"""The numbers that pairs of characters stand for."""


class Mark:
    """What is known of a call besides its fingerprint, as bits; plain numbers, because an enum's
    are slow."""

    READS: Final = 1
    """Its tool only reads: without a new result nothing was gained."""
    POLLS: Final = 2
    """It is meant to be repeated."""
    FIRST: Final = 4
    """It was not among the calls before it."""
    FAILED: Final = 8
    TRANSIENT: Final = 16
    """It failed for a reason that passes."""
    NEWS: Final = 32
    """Its outcome was not among those before it."""
    TELLS: Final = 64
    """Its result says enough to be the same by more than chance."""
    REFUSED: Final = 128
    """It did not go ahead, because it was found to be one of a loop."""
    IDEMPOTENT: Final = 256
    """To repeat it changes nothing."""


LASTS: Final = Mark.READS | Mark.POLLS | Mark.FIRST | Mark.IDEMPOTENT
"""What is known of a call before anything came of it, and stays."""


class Seen(msgspec.Struct, frozen=True, gc=False):
    """One call: its id, tool and fingerprint, what is known of it, and what came of it, once that
    is known. `first` is the id that it is still known by, where it was asked for again. Ids and
    names are digests."""

    id: str
    tool: str
    exact: str
    loose: str
    sketch: str
    marks: int = 0
    outcome: str = ""
    first: str = ""

    @property
    def fresh(self) -> bool:
        """Whether something was gained: a new outcome, or a new call that went well and may have
        changed something."""
        if self.marks & Mark.NEWS:
            return True
        spoilt = Mark.FAILED | Mark.REFUSED | (Mark.READS if self.outcome else 0)
        return bool(self.marks & Mark.FIRST) and not self.marks & spoilt

    @property
    def open(self) -> bool:
        """Whether it is not known what came of it, and may yet be."""
        return not self.outcome and not self.marks & Mark.REFUSED

    @classmethod
    def read(cls, text: str) -> Seen:
        """The call that a text says."""
        body, _, first = text.partition(".")
        known = "" if body[OUTCOME] == UNKNOWN else body[OUTCOME]
        sketch, marks = body[SHORTEST:], NUMBERS[body[MARKS]]
        return cls(body[ID], body[TOOL], body[EXACT], body[LOOSE], sketch, marks, known, first)


def ended(text: str, outcome: str, marks: int) -> str:
    """The text of a call of which something came."""
    return f"{text[:22]}{PAIRS[marks]}{outcome}{text[SHORTEST:]}"


def renewed(text: str, new: str, old: str) -> str:
    """The text of a call that is asked for again under another id; ids are digests."""
    sketch, _, _ = text[SHORTEST:].partition(".")
    return f"{new}{text[6:22]}{PAIRS[NUMBERS[text[MARKS]] & LASTS]}{UNKNOWN}{sketch}.{old}"

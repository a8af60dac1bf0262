"""A past call: what a run's history keeps of one call, and how it is written."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.readings.fingerprint import (
    PAIRS,
    Fingerprint,
    alike,
    fingerprint,
    id_digest,
    name_digest,
    normal_form,
    print_of,
    volatile_names,
)

LONG: Final = 1_000
"""Of a longer normal form only the fingerprint is kept."""

DIGESTED: Final = "\0="
"""What stands before the digest of a call in the place of its normal form; none begins so."""

READ: Final = "\0"
"""What the id of a call begins with that was read: only its digest is known."""

LATEST_S: Final = (1 << 36) - 1
"""The latest time that is written: some two thousand years from now."""

LONGEST_S: Final = (1 << 12) - 1
"""The longest time for which it is written that the same was made: more than an hour."""

UNKNOWN: Final = "-" * 8
"""What is written where it is not known what came of a call."""

SHORTEST: Final = 40
"""Where the sketch begins. It may be empty; behind it, after a point, stands the id that a call had
first."""

NUMBERS: Final = {pair: number for number, pair in enumerate(PAIRS)}
"""The numbers that pairs of characters stand for."""


class CallMark:
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
    WAITED: Final = 512
    """It looks again at what had not changed, after a while."""


LASTS: Final = (
    CallMark.READS | CallMark.POLLS | CallMark.FIRST | CallMark.IDEMPOTENT | CallMark.WAITED
)
"""What is known of a call before anything came of it, and stays."""


class PastCall(msgspec.Struct, frozen=True, gc=False):
    """One call: its id and the one that it had first, its tool and normal form, what is known of
    it, when it was made, since when the same was made with the same outcome, in seconds, and what
    came of it, once that is known. Tools and outcomes are digests.

    Its fingerprint and its text are made when somebody asks for them. A call that was read has its
    fingerprint and no form, a long one the digest of it.
    """

    id: str
    tool: str
    form: str
    marks: int
    at: int = 0
    since: int = 0
    outcome: str = ""
    first: str = ""
    known: Fingerprint | None = None
    written: str = ""

    @classmethod
    def read(cls, text: str) -> PastCall:
        """The call that a text says; raises `ValueError` or `KeyError` where it says none."""
        size = len(text)
        if size < SHORTEST or (size % 2 and text[-7] != "."):
            raise ValueError("no call is written so")
        outcome = text[24:32]
        sketch, _, first = text[SHORTEST:].partition(".")
        at = NUMBERS[text[32:34]] << 24 | NUMBERS[text[34:36]] << 12 | NUMBERS[text[36:38]]
        return cls(
            READ + text[:6],
            text[6:10],
            "",
            NUMBERS[text[22:24]],
            at,
            at - NUMBERS[text[38:40]],
            "" if outcome == UNKNOWN else outcome,
            READ + first if first else "",
            Fingerprint(text[10:18], text[18:22], sketch),
            text,
        )

    @property
    def print_(self) -> Fingerprint:
        """Its fingerprint."""
        known = self.known
        if known is None:
            known = print_of(self.form)
            msgspec.structs.force_setattr(self, "known", known)
        return known

    @property
    def exact(self) -> str:
        """The digest of its tool and arguments."""
        return self.print_.exact

    @property
    def text(self) -> str:
        """All that is written of it."""
        text = self.written
        if not text:
            print_, at = self.print_, self.at
            first = f".{_id(self.first)}" if self.first else ""
            text = (
                f"{_id(self.id)}{self.tool}{print_.exact}{print_.loose}{PAIRS[self.marks]}"
                f"{self.outcome or UNKNOWN}{PAIRS[at >> 24]}{PAIRS[at >> 12 & 0xFFF]}"
                f"{PAIRS[at & 0xFFF]}{PAIRS[at - self.since]}{print_.sketch}{first}"
            )
            msgspec.structs.force_setattr(self, "written", text)
        return text

    def marked(self, marks: int, outcome: str = "", since: int | None = None) -> PastCall:
        """The call with other marks, and with what came of it, if anything did. `since` is since
        when that is so, where it is known now."""
        begun = self.since if since is None else max(since, self.at - LONGEST_S)
        return PastCall(
            self.id, self.tool, self.form, marks, self.at, begun, outcome, self.first, self.known
        )

    def renewed(self, new: str, old: str) -> PastCall:
        """The call, asked for again under another id; nothing came of it yet."""
        marks = self.marks & LASTS
        return PastCall(new, self.tool, self.form, marks, self.at, self.since, "", old, self.known)

    def __repr__(self) -> str:
        """Its id alone: nothing that was said is shown."""
        return f"<PastCall {self.id}>"

    def is_same(self, new: PastCall) -> bool:
        """Whether it has the tool and arguments of a new call."""
        if self.form and new.form:
            return self.form == new.form
        return self.exact == new.exact

    @property
    def fresh(self) -> bool:
        """Whether something was gained: a new outcome, or a new call that went well and may have
        changed something."""
        if self.marks & CallMark.NEWS:
            return True
        spoilt = CallMark.FAILED | CallMark.REFUSED | (CallMark.READS if self.outcome else 0)
        return bool(self.marks & CallMark.FIRST) and not self.marks & spoilt

    @property
    def open(self) -> bool:
        """Whether it is not known what came of it, and may yet be."""
        return not self.outcome and not self.marks & CallMark.REFUSED

    def is_near(self, new: PastCall) -> bool:
        """Whether its arguments were almost those of a new call."""
        own, other = self.print_, new.print_
        return own.loose == other.loose or (
            bool(self.marks & CallMark.TELLS) and alike(own.sketch, other.sketch)
        )


def begun(call: str, tool: str, args: dict[str, Any], marks: int = 0, at_ms: int = 0) -> PastCall:
    """A call of which nothing came yet."""
    form = normal_form(tool, args)
    known = None
    if len(form) > LONG or volatile_names(tool, *args):
        known = fingerprint(tool, args)
        form = DIGESTED + known.exact if len(form) > LONG else form
    at = min(max(at_ms // 1000, 0), LATEST_S)
    return PastCall(call, name_digest(tool), form, marks, at, at, known=known)


def _id(call: str) -> str:
    """What is written of a call's id."""
    return call[1:] if call[:1] == READ else id_digest(call)

"""What a refusal is about: the same for calls that are refused for the same thing, however they are
worded."""

from __future__ import annotations

from typing import Any, Final, NamedTuple
from unicodedata import category, normalize

from stanchion.kernel.findings import Finding
from stanchion.readings import Reading
from stanchion.readings.fingerprint import digest
from stanchion.readings.word_lists import listed

AUTHORED: Final = frozenset({"rule.broken"})
"""Codes whose arguments are the policy's own words: they say what is asked of a call, and nothing
of the call."""


INVISIBLE: Final = listed("Cc Cf Mn Zl Zp")
"""Categories of characters that change what is written, and nothing of what one sees."""

OBJECTS: Final = 8
"""How many objects of one refusal are counted: the shortest, because the more a path takes in the
shorter it is."""


class RefusalMark(NamedTuple):
    """A refusal as it is counted, in eight characters each: by its guard, code and each of its
    objects, and by guard and code alone."""

    objects: tuple[str, ...]
    reason: str


def refusal(reading: Reading[Any], finding: Finding) -> RefusalMark:
    """What a refusal is counted as.

    Its objects are what the guard says it is about, a line each, or the texts that it names (a
    tool, a field, a host) as one; numbers among them count how often or how much. Where it names
    nothing, it is what the call says, whatever its tool, its order and its numbers.
    """
    about = finding.about.split("\n") if finding.about else [_named(finding)]
    if about == [""] and (not finding.args or finding.code in AUTHORED):
        things = [reading.fingerprint.sketch]
    else:
        things = sorted({_plain(one) for one in about}, key=lambda one: (len(one), one))
    objects = [digest(finding.guard, finding.code, thing) for thing in things[:OBJECTS]]
    return RefusalMark(tuple(objects), digest(finding.guard, finding.code))


def _named(finding: Finding) -> str:
    """The texts among a finding's arguments."""
    if finding.code in AUTHORED:
        return ""
    return " ".join([" ".join(arg.split()) for arg in finding.args if isinstance(arg, str)])


def _plain(text: str) -> str:
    """A text without case, needless spaces and characters that nobody sees."""
    if not text.isascii():
        text = "".join(
            [char for char in normalize("NFKC", text) if category(char) not in INVISIBLE]
        )
    return " ".join(text.casefold().split())

"""Soundness: what a guard gives is what its protocol says, in every part, or the guard has failed.

Whatever stands behind a guard takes its answer as it is: junk in it is found here, where a failure
has a meaning.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.kernel.actions import Action
from stanchion.kernel.findings import Finding, Signals
from stanchion.kernel.guard import Ruling
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.registers import MOST_BITS
from stanchion.kernel.state import BUCKETS, Line, When
from stanchion.kernel.states import Signal

SCALARS: Final = frozenset({str, int, float, bool, type(None)})


def sound(finding: Any) -> Finding:
    """A finding whose every part is of its type; raises `TypeError` or `ValueError` where it is not
    one."""
    if not isinstance(finding, Finding):
        raise TypeError(f"a guard gives a Finding or None, not {type(finding).__name__}")
    if not _plainly_sound(finding):
        _look_through(finding)
    return finding


def _plainly_sound(finding: Finding) -> bool:
    """Whether it is sound as most are: words and nothing else. Looking through one takes many times
    as long."""
    return (
        type(finding.action) is Action
        and type(finding.code) is str
        and type(finding.args) is tuple
        and type(finding.text) is str
        and type(finding.guidance) is str
        and finding.patches == ()
        and finding.hides == ()
        and finding.effects == ()
        and finding.terms is None
        and finding.said is None
        and type(finding.about) is type(finding.guard) is str
        and type(finding.shadow) is bool
        and SCALARS.issuperset(map(type, finding.args))
    )


def _look_through(finding: Finding) -> None:
    typed.convert(msgspec.to_builtins(finding), Finding)
    patches = (*finding.patches, *finding.hides)
    paths = [patch.path for patch in patches]
    tuples = (finding.args, finding.effects, finding.patches, finding.hides, *paths)
    if any(type(one) is not tuple for one in tuples):
        raise TypeError("what a finding has several of stands in tuples")
    # Dates, bytes and the like can be written as texts, and are none.
    texts = (
        finding.code,
        finding.text,
        finding.guidance,
        finding.guard,
        finding.about,
        *finding.effects,
    )
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("the words of a finding are texts")
    if not all(isinstance(arg, str | int | float | None) for arg in finding.args):
        raise TypeError("the arguments of a finding are texts and numbers")
    if not all(isinstance(step, str | int) for path in paths for step in path):
        raise TypeError("the steps of a patch are names and numbers")
    if isinstance(finding.terms, Signals):
        for _, signals in finding.terms.to:
            for signal in signals:
                Signal(signal)


def sound_or_none(finding: Any) -> Finding | None:
    """The same where a guard has nothing to say."""
    return None if finding is None else sound(finding)


def sound_ruling(ruling: Any) -> Ruling:
    """The same for what a record guard gives; its finding is looked at by itself."""
    if (
        not isinstance(ruling, Ruling)
        or type(ruling.since) is not int
        or type(ruling.until) is not int
    ):
        raise TypeError(
            "a record guard gives a Ruling or None, with whole numbers as its span of time"
        )
    if ruling.when is not None and type(ruling.when) is not When:
        raise TypeError(f"a ruling is written at a When, not at {type(ruling.when).__name__}")
    return ruling


LATEST_MS: Final = 10**12
"""The longest deadline that every host can wait for: some thirty years."""


def sound_lookup(lookup: Any) -> Lookup:
    """The same for what an asking guard wants to know."""
    if (
        not isinstance(lookup, Lookup)
        or type(lookup.deadline_ms) is not int
        or not 0 <= lookup.deadline_ms <= LATEST_MS
    ):
        raise TypeError(
            "an asking guard gives a Lookup or None, with a deadline in whole milliseconds"
        )
    return lookup


def sound_line(line: Line) -> None:
    """Raise `ValueError` for a line that a meter cannot count on."""
    if line.hold_ms and line.when == When.JUDGED:
        raise ValueError("a line that is written when judged cannot hold")
    if line.follows or 0 < line.window_ms < BUCKETS:
        raise ValueError(
            f"a line follows nothing of its own and has a window of {BUCKETS} ms or more"
        )
    if line.bits and (
        line.bands or line.hold_ms or line.window_ms or not 0 < line.bits <= MOST_BITS
    ):
        raise ValueError(f"a register has up to {MOST_BITS} bits, and no bands, hold or window")

"""Soundness: what a guard gives is what its protocol says, in every part, or the guard has failed.

Whatever stands behind a guard takes its answer as it is: junk in it is found here, where a failure has a meaning.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import msgspec

from stanchion.kernel.actions import Action
from stanchion.kernel.findings import Finding, Signals
from stanchion.kernel.guard import Ruling
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.state import When
from stanchion.kernel.states import Signal

SCALARS: Final = frozenset({str, int, float, bool, type(None)})


def sound(finding: Any) -> Finding:
    """A finding whose every part is of its type; raises `TypeError` or `ValueError` where it is not one."""
    if not isinstance(finding, Finding):
        raise TypeError(f"a guard gives a Finding or None, not {type(finding).__name__}")
    if not _plainly_sound(finding):
        _look_through(finding)
    return finding


def _plainly_sound(finding: Finding) -> bool:
    """Whether it is sound as most are: words and nothing else. Looking through one takes many times as long."""
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
    msgspec.convert(msgspec.to_builtins(finding, builtin_types=_no_texts()), Finding)
    patches = (*finding.patches, *finding.hides)
    tuples = (finding.args, finding.effects, finding.patches, finding.hides, *[patch.path for patch in patches])
    if any(type(one) is not tuple for one in tuples):
        raise TypeError("what a finding has several of stands in tuples")
    if isinstance(finding.terms, Signals):
        for _, signals in finding.terms.to:
            for signal in signals:
                Signal(signal)


@cache
def _no_texts() -> tuple[type[Any], ...]:
    """What is no text, though it could be written as one."""
    from datetime import date, datetime, time, timedelta
    from decimal import Decimal
    from uuid import UUID

    return (bytes, bytearray, memoryview, date, datetime, time, timedelta, Decimal, UUID)


def sound_or_none(finding: Any) -> Finding | None:
    """The same where a guard has nothing to say."""
    return None if finding is None else sound(finding)


def sound_ruling(ruling: Any) -> Ruling:
    """The same for what a record guard gives; its finding is looked at by itself."""
    if not isinstance(ruling, Ruling) or type(ruling.since) is not int or type(ruling.until) is not int:
        raise TypeError("a record guard gives a Ruling or None, with whole numbers as its span of time")
    if ruling.when is not None and type(ruling.when) is not When:
        raise TypeError(f"a ruling is written at a When, not at {type(ruling.when).__name__}")
    return ruling


def sound_lookup(lookup: Any) -> Lookup:
    """The same for what an asking guard wants to know."""
    if not isinstance(lookup, Lookup) or type(lookup.deadline_ms) is not int or lookup.deadline_ms < 0:
        raise TypeError("an asking guard gives a Lookup or None, with a deadline in whole milliseconds")
    return lookup

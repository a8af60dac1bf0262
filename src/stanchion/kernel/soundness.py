"""Soundness: what a guard gives is what its protocol says, in every part, or the guard has failed.

Whatever stands behind a guard takes its answer as it is: junk in it is found here, where a failure has a meaning.
"""

from __future__ import annotations

from typing import Any

import msgspec

from stanchion.kernel.findings import Finding, Signals
from stanchion.kernel.guard import Ruling
from stanchion.kernel.lookups import Lookup
from stanchion.kernel.state import When
from stanchion.kernel.states import Signal


def sound(finding: Any) -> Finding:
    """A finding whose every part is of its type; raises `TypeError` or `ValueError` where it is not one."""
    if not isinstance(finding, Finding):
        raise TypeError(f"a guard gives a Finding or None, not {type(finding).__name__}")
    msgspec.convert(msgspec.to_builtins(finding), Finding)
    if isinstance(finding.terms, Signals):
        for _, signals in finding.terms.to:
            for signal in signals:
                Signal(signal)
    return finding


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

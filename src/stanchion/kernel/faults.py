"""Faults: whose a failure is. Only some of them say anything about the tool that failed."""

from __future__ import annotations

from typing import Final, Literal

FaultName = Literal["system", "user", "business", "unknown"]
"""`system`: the tool or what it rests on does not work. `user`: the call was wrong. `business`: the
tool works and says no. `unknown`: nobody can tell."""

UNKNOWN: Final = "unknown"

FAILED: Final = "failed"
"""The trait of a result that reports failure. The failure was judged as an error before it, and
counted there."""

FAULTS: Final[tuple[FaultName, ...]] = ("system", "user", "business", "unknown")

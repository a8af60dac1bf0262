"""Scanning: many patterns in one pass over a text, in linear time."""

from __future__ import annotations

from stanchion.readings.scan.facts import Head
from stanchion.readings.scan.pattern import LONGEST, LONGEST_BLOCK, Facts, Pattern
from stanchion.readings.scan.pattern_parser import PatternError
from stanchion.readings.scan.scanner import CONTEXT, Hit, Hits, Scanner
from stanchion.readings.scan.seek import Seek
from stanchion.readings.scan.windows import Window

__all__ = [
    "CONTEXT",
    "LONGEST",
    "LONGEST_BLOCK",
    "Facts",
    "Head",
    "Hit",
    "Hits",
    "Pattern",
    "PatternError",
    "Scanner",
    "Seek",
    "Window",
]

"""Scanning: many patterns in one pass over a text, in linear time."""

from __future__ import annotations

from stanchion.guards._scan.facts import Head
from stanchion.guards._scan.pattern import LONGEST, LONGEST_BLOCK, Facts, Pattern
from stanchion.guards._scan.reading import PatternError
from stanchion.guards._scan.scanner import CONTEXT, Engine, Hit, Kept, Scanner

__all__ = [
    "CONTEXT",
    "LONGEST",
    "LONGEST_BLOCK",
    "Engine",
    "Facts",
    "Head",
    "Hit",
    "Kept",
    "Pattern",
    "PatternError",
    "Scanner",
]

"""Counting scans: which texts the sieve went over while something was done."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from stanchion.readings.scan.window_sieve import WindowSieve

SCAN = WindowSieve.regions.__code__


def scans_of(call: Callable[[], Any]) -> list[bytes]:
    """The texts that were scanned meanwhile, in this thread, as often as they were."""
    seen: list[bytes] = []

    def note(frame: FrameType, event: str, _arg: object) -> None:
        if event == "call" and frame.f_code is SCAN:
            seen.append(frame.f_locals["flat"])

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return seen

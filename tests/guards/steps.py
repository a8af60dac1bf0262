"""Counting steps: how many lines of Python a call runs, so that cost is measured without a
clock."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps_of(call: Callable[[], Any]) -> int:
    """How many lines a call runs in this thread, everything it calls included; a loop's turns count
    one by one."""
    count = 0

    def trace(_frame: FrameType, kind: str, _arg: Any) -> Any:
        nonlocal count
        count += kind == "line"
        return trace

    before = sys.gettrace()
    collecting = gc.isenabled()
    gc.disable()  # what a collection calls back is nobody's step
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
        if collecting:
            gc.enable()
    return count

"""Whether a frame will ever run again: one that has ended holds nothing, whatever it took."""

from __future__ import annotations

from opcode import opmap
from types import FrameType
from typing import Final

RESUMABLE: Final = 0x20 | 0x80 | 0x200
"""What the code of generators and coroutines is marked with: their frames rest, and go on."""
YIELD: Final = opmap["YIELD_VALUE"]


def has_ended(frame: FrameType) -> bool:
    """Whether a frame will never run again. One that does may lose its variables, which nobody
    reads any more.

    A generator or coroutine that rests goes on some day; to ask would end it. So what follows the
    look at where it is has no step at which another thread could get in between.
    """
    rests = _rests(frame)
    try:
        if frame.f_lasti in rests:
            return False
        # The one question about a frame that is answered in one step: a frame that runs refuses
        frame.clear()
    except RuntimeError:
        return False
    return True


def _rests(frame: FrameType) -> frozenset[int]:
    """The steps of a frame at which it rests."""
    code = frame.f_code
    if not code.co_flags & RESUMABLE:
        return frozenset()
    steps = code.co_code
    return frozenset([at for at in range(0, len(steps), 2) if steps[at] == YIELD])

"""Limits: how much of a shell text is looked at before it counts as unclear."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.sizes import LIMITS, Limits

STEPS_A_COMMAND: Final = 39
"""How many steps allow for one more command: whoever judges them takes longer than who reads
them."""

MAX_MADE: Final = 262_144
"""How many characters the values that a text makes may have together."""

MAX_FIELDS: Final = 256
"""How many words braces may stand for."""


class TooMuch(Exception):
    """A text is over a limit; the words say which."""


class Meter:
    """Counts the steps of one analysis and what it makes; over a limit it raises. One step more is
    allowed for each character."""

    __slots__ = ("depth", "left", "limits", "made", "noise", "steps")

    def __init__(self, chars: int, limits: Limits = LIMITS) -> None:
        self.limits = limits
        self.steps = 0
        self.left = limits.command_steps + chars
        self.made = 0
        self.depth = 0
        self.noise = 0

    def step(self, count: int = 1) -> None:
        """Count steps."""
        self.steps += count
        if self.steps > self.left:
            raise TooMuch("it takes too many steps to follow")

    def make(self, chars: int) -> None:
        """Count characters that were made."""
        self.made += chars
        if self.made > MAX_MADE:
            raise TooMuch("the values it makes are too long")

    def down(self) -> None:
        """Go one level deeper."""
        self.depth += 1
        if self.depth > self.limits.command_depth:
            raise TooMuch("it is nested too deeply")

    def again(self, depth: int) -> None:
        """Give what was read before a limit a chance to be followed, from this level on."""
        self.depth = depth
        self.left = max(self.left, self.steps) + self.limits.command_steps

    def up(self) -> None:
        """Come back."""
        self.depth -= 1

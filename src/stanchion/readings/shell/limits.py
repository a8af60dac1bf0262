"""Limits: how much of a shell text is looked at before it counts as unclear."""

from __future__ import annotations

from typing import Final

MAX_CHARS: Final = 65_536
"""Longer texts are not read."""

MAX_DEPTH: Final = 24
"""How deep groups, substitutions and texts that run as scripts may stand in each other."""

STEPS_PER_CHAR: Final = 1
STEPS_AT_LEAST: Final = 20_000
"""How many steps the reading of a text and the following of what it does may take."""

MAX_COMMANDS: Final = 512
"""How many commands a text may run: whoever judges them takes longer than who reads them."""

MAX_MADE: Final = 262_144
"""How many characters the values that a text makes may have together."""

MAX_FIELDS: Final = 256
"""How many words braces may stand for."""


class TooMuch(Exception):
    """A text is over a limit; the words say which."""


class Meter:
    """Counts the steps of one analysis and what it makes; over a limit it raises."""

    __slots__ = ("depth", "left", "made", "noise", "steps")

    def __init__(self, chars: int) -> None:
        self.steps = 0
        self.left = STEPS_AT_LEAST + STEPS_PER_CHAR * chars
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
        if self.depth > MAX_DEPTH:
            raise TooMuch("it is nested too deeply")

    def again(self, depth: int) -> None:
        """Give what was read before a limit a chance to be followed, from this level on."""
        self.depth = depth
        self.left = max(self.left, self.steps) + STEPS_AT_LEAST

    def up(self) -> None:
        """Come back."""
        self.depth -= 1

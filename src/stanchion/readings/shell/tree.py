"""The tree of a shell text, and its limits."""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct

from stanchion.kernel.sizes import LIMITS, ReadLimits

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

    def __init__(self, chars: int, limits: ReadLimits = LIMITS) -> None:
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


class TextPart(Struct, gc=False):
    """Characters as they stand; `quoted` ones are neither split nor taken for patterns."""

    text: str
    quoted: bool = False


class Param(Struct, gc=False):
    """`$name` or `${name…}`: `mark` is `!` or `#` before the name, `op` and `arg` what stands
    behind it."""

    name: str
    quoted: bool = False
    mark: str = ""
    index: Word | None = None
    op: str = ""
    arg: Word | None = None


class OutputPart(Struct, gc=False):
    """`$(…)`: what a script prints."""

    body: Script
    quoted: bool = False


class SumPart(Struct, gc=False):
    """`$((…))`: a number."""

    parts: Word
    quoted: bool = False


class StreamPart(Struct, gc=False):
    """`<(…)` or `>(…)`: a script as a file to read from, or to write `into`."""

    body: Script
    into: bool = False


Part = TextPart | Param | OutputPart | SumPart | StreamPart
Word = str | list[Part]
"""A text where nothing is special about it, else its parts."""


class Redirect(Struct, gc=False):
    """`op` and its target; a here-document has its `body` as target."""

    op: str
    target: Word
    fd: str = ""


class Assign(Struct, gc=False):
    """`name=value`; a list is an array's `items`."""

    name: str
    value: Word = ""
    items: list[Word] | None = None
    index: Word | None = None
    append: bool = False


class Simple(Struct, gc=False):
    """A command with its words."""

    words: list[Word]
    assigns: list[Assign]
    redirects: list[Redirect]


class Pipe(Struct, gc=False):
    """Commands of which each reads what the one before prints."""

    parts: list[Node]


class GroupClause(Struct, gc=False):
    """A body in braces or, with `apart`, in a shell of its own."""

    body: Script
    apart: bool
    redirects: list[Redirect]


class Loop(Struct, gc=False):
    """`while`, `until`: a head and a body."""

    head: Script
    body: Script
    until: bool
    redirects: list[Redirect]


class ForLoop(Struct, gc=False):
    """`for name in words`; without words the script's own arguments."""

    name: str
    words: list[Word] | None
    body: Script
    redirects: list[Redirect]


class Count(Struct, gc=False):
    """`for ((begin; go_on; step))`."""

    begin: Word
    go_on: Word
    step: Word
    body: Script
    redirects: list[Redirect]


class Branch(Struct, gc=False):
    """`if`: pairs of a condition and what then happens; the last may have no condition."""

    arms: list[tuple[Script, Script]]
    redirects: list[Redirect]


class CaseClause(Struct, gc=False):
    """`case word in`: patterns and what then happens."""

    word: Word
    arms: list[tuple[list[Word], Script]]
    redirects: list[Redirect]


class FunctionClause(Struct, gc=False):
    """A function's name and body."""

    name: str
    body: Node


class Test(Struct, gc=False):
    """`[[ … ]]`."""

    words: list[Word]
    redirects: list[Redirect]


class Compute(Struct, gc=False):
    """`((…))`: a computation as a command."""

    parts: Word
    redirects: list[Redirect]


class Turned(Struct, gc=False):
    """A command behind `!` or `coproc`: how it ends is not how the text goes on."""

    node: Node


Node = (
    Simple
    | Pipe
    | GroupClause
    | Loop
    | ForLoop
    | Count
    | Branch
    | CaseClause
    | FunctionClause
    | Test
    | Compute
    | Turned
)


class Item(Struct, gc=False):
    """A command in a list and what stands behind it."""

    node: Node
    after: Literal["", ";", "&", "&&", "||"] = ""


Script = list[Item]

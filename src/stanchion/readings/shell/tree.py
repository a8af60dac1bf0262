"""The parts of a shell text: words, commands, and what joins them."""

from __future__ import annotations

from typing import Literal

import msgspec


class Text(msgspec.Struct, gc=False):
    """Characters as they stand; `quoted` ones are neither split nor taken for patterns."""

    text: str
    quoted: bool = False


class Param(msgspec.Struct, gc=False):
    """`$name` or `${name…}`: `mark` is `!` or `#` before the name, `op` and `arg` what stands
    behind it."""

    name: str
    quoted: bool = False
    mark: str = ""
    index: Word | None = None
    op: str = ""
    arg: Word | None = None


class Output(msgspec.Struct, gc=False):
    """`$(…)`: what a script prints."""

    body: Script
    quoted: bool = False


class Sum(msgspec.Struct, gc=False):
    """`$((…))`: a number."""

    parts: Word
    quoted: bool = False


class Stream(msgspec.Struct, gc=False):
    """`<(…)` or `>(…)`: a script as a file to read from, or to write `into`."""

    body: Script
    into: bool = False


Part = Text | Param | Output | Sum | Stream
Word = str | list[Part]
"""A text where nothing is special about it, else its parts."""


class Redirect(msgspec.Struct, gc=False):
    """`op` and its target; a here-document has its `body` as target."""

    op: str
    target: Word
    fd: str = ""


class Assign(msgspec.Struct, gc=False):
    """`name=value`; a list is an array's `items`."""

    name: str
    value: Word = ""
    items: list[Word] | None = None
    index: Word | None = None
    append: bool = False


class Simple(msgspec.Struct, gc=False):
    """A command with its words."""

    words: list[Word]
    assigns: list[Assign]
    redirects: list[Redirect]


class Pipe(msgspec.Struct, gc=False):
    """Commands of which each reads what the one before prints."""

    parts: list[Node]


class Group(msgspec.Struct, gc=False):
    """A body in braces or, with `apart`, in a shell of its own."""

    body: Script
    apart: bool
    redirects: list[Redirect]


class Loop(msgspec.Struct, gc=False):
    """`while`, `until`: a head and a body."""

    head: Script
    body: Script
    until: bool
    redirects: list[Redirect]


class Each(msgspec.Struct, gc=False):
    """`for name in words`; without words the script's own arguments."""

    name: str
    words: list[Word] | None
    body: Script
    redirects: list[Redirect]


class Count(msgspec.Struct, gc=False):
    """`for ((begin; go_on; step))`."""

    begin: Word
    go_on: Word
    step: Word
    body: Script
    redirects: list[Redirect]


class Branch(msgspec.Struct, gc=False):
    """`if`: pairs of a condition and what then happens; the last may have no condition."""

    arms: list[tuple[Script, Script]]
    redirects: list[Redirect]


class Case(msgspec.Struct, gc=False):
    """`case word in`: patterns and what then happens."""

    word: Word
    arms: list[tuple[list[Word], Script]]
    redirects: list[Redirect]


class Function(msgspec.Struct, gc=False):
    """A function's name and body."""

    name: str
    body: Node


class Test(msgspec.Struct, gc=False):
    """`[[ … ]]`."""

    words: list[Word]
    redirects: list[Redirect]


class Compute(msgspec.Struct, gc=False):
    """`((…))`: a computation as a command."""

    parts: Word
    redirects: list[Redirect]


class Turned(msgspec.Struct, gc=False):
    """A command behind `!` or `coproc`: how it ends is not how the text goes on."""

    node: Node


Node = (
    Simple | Pipe | Group | Loop | Each | Count | Branch | Case | Function | Test | Compute | Turned
)


class Item(msgspec.Struct, gc=False):
    """A command in a list and what stands behind it."""

    node: Node
    after: Literal["", ";", "&", "&&", "||"] = ""


Script = list[Item]

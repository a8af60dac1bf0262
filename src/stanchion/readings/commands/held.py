"""Held: a command that a call holds, and the tools and arguments that a policy names for it."""

from __future__ import annotations

import msgspec

from stanchion.kernel.names import Names
from stanchion.readings.commands.shapes import Text

Where = tuple[str | int, ...]


class Held(msgspec.Struct, frozen=True, gc=False):
    """A shell text or the words of one command, and where in the arguments it stands; `sure` where
    the tool's name says that it runs such texts, `code` where it is code of another language, as a
    command would give it to that."""

    text: Text
    where: Where
    sure: bool = True
    code: bool = False


class Naming(msgspec.Struct, frozen=True):
    """The tools that run what they are given and the arguments that hold it, where a policy names
    them."""

    tools: Names | None = None
    arguments: tuple[str, ...] | None = None

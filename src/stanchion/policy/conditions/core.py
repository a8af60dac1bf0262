"""The typed tree: every name resolved, every operation chosen; the only thing that code is made
from."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from stanchion.policy.conditions.kinds import Type


class Typed(msgspec.Struct, frozen=True):
    """A part whose type is known."""

    type: Type


class Const(Typed, frozen=True):
    """A value known at load."""

    value: Any


class Read(Typed, frozen=True):
    """A declared name, read as an attribute of the view."""

    name: str
    attr: str


class Local(Typed, frozen=True):
    """The variable of the `slot`-th enclosing macro, counted from the outside; `argument` where it
    goes over a call's arguments, or over what is made of them."""

    slot: int
    argument: bool = False


class Listed(Typed, frozen=True):
    """A list built at evaluation."""

    items: tuple[Core, ...]


class Mapped(Typed, frozen=True):
    """A map built at evaluation."""

    pairs: tuple[tuple[Core, Core], ...]


class Do(Typed, frozen=True):
    """One operation of the table in `operations`."""

    op: str
    args: tuple[Core, ...]


class Required(Typed, frozen=True):
    """A part that has no value where it is null and the event has arguments, read as `attr`."""

    of: Core
    attr: str


class Joined(Typed, frozen=True):
    """Parts of which all (`every`) or one must be true."""

    every: bool
    parts: tuple[Core, ...]


class Chosen(Typed, frozen=True):
    """One of two values."""

    test: Core
    yes: Core
    no: Core


class Each(Typed, frozen=True):
    """A macro: `body` for each element of `over`; `result` is what `map` with a filter gives."""

    op: str
    over: Core
    slot: int
    body: Core
    result: Core | None = None


Core: TypeAlias = Const | Read | Local | Listed | Mapped | Do | Required | Joined | Chosen | Each

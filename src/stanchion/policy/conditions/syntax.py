"""The parse tree: what a condition says, before names and types are known."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from stanchion.policy.conditions.limits import ConditionError


class Spot(msgspec.Struct, frozen=True, gc=False):
    """Where a part of a condition stands, and how high the tree under it is."""

    start: int
    end: int
    depth: int


class Literal(Spot, frozen=True):
    """A number, text, truth value or null."""

    value: Any


class ListOf(Spot, frozen=True):
    """A list that is written out."""

    items: tuple[Node, ...]


class MapOf(Spot, frozen=True):
    """A map that is written out."""

    pairs: tuple[tuple[Node, Node], ...]


class BareName(Spot, frozen=True):
    """A name that stands alone."""

    name: str


class FieldAccess(Spot, frozen=True):
    """A field of something."""

    of: Node
    name: str


class ElementAccess(Spot, frozen=True):
    """An element of something."""

    of: Node
    key: Node


class FunctionCall(Spot, frozen=True):
    """A function, or a method where it is called `on` something."""

    name: str
    on: Node | None
    args: tuple[Node, ...]


class Unary(Spot, frozen=True):
    """`!` or `-`."""

    op: str
    of: Node


class Binary(Spot, frozen=True):
    """A comparison, `in`, or arithmetic."""

    op: str
    left: Node
    right: Node


class Logic(Spot, frozen=True):
    """Parts joined by `&&` or by `||`."""

    op: str
    parts: tuple[Node, ...]


class Ternary(Spot, frozen=True):
    """`test ? yes : no`."""

    test: Node
    yes: Node
    no: Node


Node: TypeAlias = (
    Literal
    | ListOf
    | MapOf
    | BareName
    | FieldAccess
    | ElementAccess
    | FunctionCall
    | Unary
    | Binary
    | Logic
    | Ternary
)


def error(node: Node, message: str) -> ConditionError:
    """An error about one part of a condition."""
    return ConditionError(message, node.start, node.end)

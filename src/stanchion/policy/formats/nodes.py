"""Nodes of a translated document: values that stand where the foreign file says what they come
from."""

from __future__ import annotations

from typing import Any

from stanchion.policy.document import Location, Node


def node(value: Any, at: Location) -> Node:
    """A value at a place; what is a node already keeps its own."""
    match value:
        case Node():
            return value
        case dict():
            return Node({key: node(child, at) for key, child in value.items()}, at, at)
        case list() | tuple():
            return Node([node(child, at) for child in value], at, at)
        case None | bool():
            return Node(value, at, at, {None: "null", True: "true", False: "false"}[value])
        case _:
            return Node(value, at, at, str(value))

"""A policy document: its data, and for each key and value the place where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from typing import Any, Final, TypeAlias

import msgspec

from stanchion.kernel.regex import regex
from stanchion.policy.errors import Fault, PolicyError

MAX_VALUES: Final = 500_000
MAX_DEPTH: Final = 64
_LINE: Final = regex(r"(.*):(\d+):(\d+)", re.DOTALL)


class Unreadable(Enum):
    """Stands for a value that has a fault of its own already; whoever checks the document passes
    over it."""

    VALUE = "unreadable"


UNREADABLE: Final = Unreadable.VALUE
Value: TypeAlias = "bool | int | float | str | dict[str, Node] | list[Node] | Unreadable | None"
Step: TypeAlias = str | int


class Location(msgspec.Struct, frozen=True, gc=False):
    """Where something stands: line and column of a file, both from 1, or the path in data parsed
    elsewhere."""

    file: str
    line: int = 0
    column: int = 0
    path: str = ""

    def __str__(self) -> str:
        if self.line:
            return f"{self.file}:{self.line}:{self.column}"
        return f"{self.file}: {self.path}" if self.path else self.file


class Node(msgspec.Struct, frozen=True):
    """A value, where it stands, where its key stands, and a scalar as it is written. Nobody changes
    its children. `changed` says where overlays have changed which of its keys."""

    value: Value
    at: Location
    key: Location | None = None
    text: str = ""
    changed: tuple[tuple[str, Location], ...] = ()

    def data(self) -> Any:
        """The value as plain data."""
        value = self.value
        if isinstance(value, dict):
            return {key: child.data() for key, child in value.items()}
        return [child.data() for child in value] if isinstance(value, list) else value


class Document(msgspec.Struct, frozen=True):
    """A policy file as it was read, and what is wrong with it so far."""

    origin: str
    root: Node
    faults: tuple[Fault, ...] = ()
    replaced: tuple[Any, ...] = ()
    """Lists that took the place of others without saying so, each a `lists.Replaced`."""
    doubts: tuple[Fault, ...] = ()
    """What was read as it is written, and can hardly be meant."""

    def node(self, *path: Step) -> Node:
        """The node at a path, or the deepest one on the way to it."""
        node = self.root
        for step in path:
            below = _child(node, step)
            if below is None:
                break
            node = below
        return node

    def place(self, *path: Step) -> Location:
        """Where the value at a path stands, or what comes nearest to it."""
        return self.node(*path).at

    def where(self, *path: Step) -> str:
        """The place of the value at a path, in words for a fault."""
        return str(self.place(*path))

    def whereabouts(self, *path: Step) -> str:
        """The same, with where overlays have changed something of it, if any have."""
        node = self.node(*path)
        return "; ".join([str(node.at), *[f"`{key}` at {place}" for key, place in node.changed]])

    def key_place(self, *path: Step) -> Location:
        """Where the key at a path stands; an item of a list has none, so its own place is given."""
        node = self.node(*path)
        return node.at if node.key is None else node.key

    def written(self, *path: Step) -> str | None:
        """A scalar as it is written (`1.0` and not `1`); `None` where the document has no scalar at
        the path."""
        node: Node | None = self.root
        for step in path:
            node = None if node is None else _child(node, step)
        return (
            None
            if node is None or isinstance(node.value, dict | list | Unreadable | None)
            else node.text
        )


def _child(node: Node, step: Step) -> Node | None:
    value = node.value
    if isinstance(value, dict):
        return value.get(step) if isinstance(step, str) else None
    if isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
        return value[step]
    return None


def in_order(faults: Iterable[Fault]) -> list[Fault]:
    """Each fault once, file by file in the order of their lines."""
    files: dict[str, int] = {}

    def order(fault: Fault) -> tuple[int, int, int]:
        found = _LINE.fullmatch(fault.place)
        file, line, column = (
            found.groups() if found is not None else (fault.place.partition(": ")[0], "0", "0")
        )
        return files.setdefault(file, len(files)), int(line), int(column)

    return sorted(dict.fromkeys(faults), key=order)


def shown(text: str) -> str:
    """A value in backticks, on one line and not too long."""
    line = "".join([c if c.isprintable() and c != "`" else "\ufffd" for c in text[:60]])
    return f"`{line}…`" if len(text) > 60 else f"`{line}`"


class Budget:
    """Counts values as they are read and stops at the limits; collects faults that leave the rest
    readable."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.faults: list[Fault] = []
        self.values = 0

    def spend(self, at: Location, values: int, depth: int) -> None:
        """Count so many values at a depth; raises `PolicyError` when that is too much."""
        self.values += values
        if self.values > MAX_VALUES:
            raise self.stop(
                at,
                f"the policy has more than {MAX_VALUES} values, aliases counted in full: split it",
            )
        if depth > MAX_DEPTH:
            raise self.stop(at, f"this is nested deeper than {MAX_DEPTH} levels: make it flatter")

    def stop(self, at: Location, message: str) -> PolicyError:
        """The error that ends reading here."""
        return PolicyError([Fault(str(at), message)])

    def fault(self, at: Location, message: str) -> Unreadable:
        """Note a mistake; gives what stands for its value."""
        self.faults.append(Fault(str(at), message))
        return UNREADABLE

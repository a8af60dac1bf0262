"""A policy document: its data, and for each key and value the place where it stands. Scalars mean
what the core schema of YAML 1.2 says, with none of YAML 1.1's surprises; data that was parsed
elsewhere has paths for places."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from enum import Enum
from typing import Any, Final, TypeAlias

import msgspec

from stanchion.kernel.regex import regex
from stanchion.policy.errors import Fault, PolicyError, refusal

MAX_VALUES: Final = 500_000
MAX_DEPTH: Final = 64
_LINE: Final = regex(r"(.*):(\d+):(\d+)", re.DOTALL)


class UnreadableValue(Enum):
    """Stands for a value that has a fault of its own already; whoever checks the document passes
    over it."""

    VALUE = "unreadable"


UNREADABLE: Final = UnreadableValue.VALUE
Value: TypeAlias = (
    "bool | int | float | str | dict[str, DocumentNode] | list[DocumentNode]"
    " | UnreadableValue | None"
)
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


class DocumentNode(msgspec.Struct, frozen=True):
    """A value, where it stands, where its key stands, and a scalar as it is written. Nobody changes
    its children. `changed` says where overlays have changed which of its keys."""

    value: Value
    at: Location
    key: Location | None = None
    text: str = ""
    changed: tuple[tuple[str, Location], ...] = ()

    @property
    def fields(self) -> dict[str, DocumentNode]:
        """What a mapping has; nothing where it is none."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def items(self) -> list[DocumentNode]:
        """What a list has; nothing where it is none."""
        return self.value if isinstance(self.value, list) else []

    def holding(self, value: Value) -> DocumentNode:
        """Another value in its place."""
        return DocumentNode(value, self.at, self.key)

    @property
    def named_at(self) -> Location:
        """Where its key stands, or where it stands itself without one."""
        return self.at if self.key is None else self.key

    def data(self) -> Any:
        """The value as plain data."""
        value = self.value
        if isinstance(value, dict):
            return {key: child.data() for key, child in value.items()}
        return [child.data() for child in value] if isinstance(value, list) else value


def node(value: Any, at: Location) -> DocumentNode:
    """A value at a place; what is a node already keeps its own."""
    match value:
        case DocumentNode():
            return value
        case dict():
            return DocumentNode({key: node(child, at) for key, child in value.items()}, at, at)
        case list() | tuple():
            return DocumentNode([node(child, at) for child in value], at, at)
        case None | bool():
            return DocumentNode(value, at, at, {None: "null", True: "true", False: "false"}[value])
        case _:
            return DocumentNode(value, at, at, str(value))


class Document(msgspec.Struct, frozen=True):
    """A policy file as it was read, and what is wrong with it so far."""

    origin: str
    root: DocumentNode
    faults: tuple[Fault, ...] = ()
    replaced: tuple[Any, ...] = ()
    """Lists that took the place of others without saying so, each a `lists.Replaced`."""
    doubts: tuple[Fault, ...] = ()
    """What was read as it is written, and can hardly be meant."""

    @property
    def guards(self) -> list[DocumentNode]:
        """The entries of its guards."""
        listed = self.root.fields.get("guards")
        return [] if listed is None else listed.items

    def node(self, *path: Step) -> DocumentNode:
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
        return self.node(*path).named_at

    def written(self, *path: Step) -> str | None:
        """A scalar as it is written (`1.0` and not `1`); `None` where the document has no scalar at
        the path."""
        node: DocumentNode | None = self.root
        for step in path:
            node = None if node is None else _child(node, step)
        return (
            None
            if node is None or isinstance(node.value, dict | list | UnreadableValue | None)
            else node.text
        )


def _child(node: DocumentNode, step: Step) -> DocumentNode | None:
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


class ReadingBudget:
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
        return refusal(at, message)

    def fault(self, at: Location, message: str) -> UnreadableValue:
        """Note a mistake; gives what stands for its value."""
        self.faults.append(Fault(str(at), message))
        return UNREADABLE


MAX_NUMBER: Final = 2**53 - 1
CORE: Final = "tag:yaml.org,2002:"
_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLS: Final = {
    word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")
}
_INT: Final = regex(r"[-+]?(?:0|[1-9][0-9]*)|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT: Final = regex(
    r"[-+]?(?:(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+|\.(?:inf|Inf|"
    r"INF))"
    r"|\.(?:nan|NaN|NAN)"
)
_UNSTORABLE: Final = regex("[\0\ud800-\udfff]")


def scalar(
    text: str, tag: str | None = None, plain: bool = True
) -> tuple[bool | int | float | str | None, str]:
    """What a scalar means by its text and tag, and what is wrong with it, if anything."""
    kind = None if tag is None else "str" if tag == "!" else tag.removeprefix(CORE)
    if kind == "str" or (kind is None and not plain):
        return text, ""
    if kind in {None, "null"} and text in _NULLS:
        return None, ""
    if kind in {None, "bool"} and text in _BOOLS:
        return _BOOLS[text], ""
    if kind in {None, "int"} and _INT.fullmatch(text):
        number = int(text, 0) if len(text) <= 32 else MAX_NUMBER + 1
        return number, number_trouble(number)
    if kind in {None, "float"} and _FLOAT.fullmatch(text):
        real = float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
        return real, number_trouble(real)
    return (
        text,
        "" if kind is None else f"is not of its type `!!{kind}`: correct it, or leave the tag out",
    )


def number_trouble(number: float) -> str:
    """Why a number cannot stand in a policy; empty if it can."""
    if isinstance(number, float) and not math.isfinite(number):
        return "is not a finite number: give a number, or put it in quotes if text is meant"
    if isinstance(number, int) and abs(number) > MAX_NUMBER:
        return f"is too big: give a number up to {MAX_NUMBER}, or put it in quotes if text is meant"
    return ""


def text_trouble(text: str) -> str:
    """Why a text cannot stand in a policy; empty if it can."""
    wrong = _UNSTORABLE.search(text)
    return f"the character U+{ord(wrong[0]):04X} has no place in text: remove it" if wrong else ""


_SIMPLE: Final = regex(r"[A-Za-z_][\w-]*")


def read_data(data: Any, origin: str = "policy") -> Document:
    """Take a mapping that was parsed elsewhere; its places are paths, its mistakes are in the
    document's faults."""
    copying = _Copying(origin)
    try:
        root = copying.node(data, "", 1)
    except PolicyError as stop:
        return Document(
            origin, DocumentNode(UNREADABLE, Location(origin)), (*copying.faults, *stop.faults)
        )
    return Document(origin, root, tuple(copying.faults))


class _Copying(ReadingBudget):
    """Copies plain data, so that whoever made it may go on changing it."""

    def node(self, data: Any, path: str, depth: int) -> DocumentNode:
        place = Location(self.origin, path=path)
        self.spend(place, 1, depth)
        match data:
            case None | bool():
                return DocumentNode(
                    data, place, place, {None: "null", True: "true", False: "false"}[data]
                )
            case str():
                text = str.__str__(data)
                trouble = text_trouble(text)
                return DocumentNode(
                    self.fault(place, trouble) if trouble else text, place, place, text
                )
            case int() | float():
                number = int(data) if isinstance(data, int) else float(data)
                trouble = number_trouble(number)
                text = repr(number) if not trouble else "this number"
                return DocumentNode(
                    self.fault(place, f"{text} {trouble}") if trouble else number,
                    place,
                    place,
                    text,
                )
            case list() | tuple():
                items = [
                    self.node(item, f"{path}[{at}]", depth + 1) for at, item in enumerate(data)
                ]
                return DocumentNode(items, place, place)
            case dict():
                return DocumentNode(self._entries(data, path, depth), place, place)
            case _:
                what = f"a value of type `{type(data).__name__}` has no place in a policy"
                return DocumentNode(
                    self.fault(place, f"{what}: give text, numbers, lists and mappings"),
                    place,
                    place,
                )

    def _entries(self, data: dict[Any, Any], path: str, depth: int) -> dict[str, DocumentNode]:
        entries: dict[str, DocumentNode] = {}
        for key, item in data.items():
            name = _name(key)
            step = name if _SIMPLE.fullmatch(name) else f"[{shown(name)[1:-1]}]"
            below = f"{path}.{step}" if path and step == name else f"{path}{step}"
            trouble = (
                text_trouble(name)
                if isinstance(key, str)
                else f"the key {shown(name)} is not text: put it in quotes"
            )
            if trouble:
                self.fault(Location(self.origin, path=below), trouble)
            entries[name] = self.node(item, below, depth + 1)
        return entries


def _name(key: object) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    small = (
        key is None or isinstance(key, float) or (isinstance(key, int) and abs(key) <= MAX_NUMBER)
    )
    return repr(key) if small else type(key).__name__

"""The types of the condition language."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.kernel.names import Names


class Uint(int):
    """An unsigned 64-bit number; a plain `int` is a signed one."""

    __slots__ = ()


class Type(msgspec.Struct, frozen=True):
    """What is known at load of a value: its kind, what it contains, whether it may be null, which
    texts it can be."""

    kind: str
    item: Type | None = None
    nullable: bool = False
    choices: tuple[str, ...] = ()

    def or_null(self) -> Type:
        """The same type, where the value may be missing."""
        if self.nullable or self.kind in ("dyn", "null"):
            return self
        return Type(self.kind, self.item, True, self.choices)

    def __str__(self) -> str:
        return (
            f"{self.kind} of {self.item}"
            if self.item is not None and self.item.kind != "dyn"
            else self.kind
        )


DYN: Final = Type("dyn")
NULL: Final = Type("null", nullable=True)
BOOL: Final = Type("bool")
INT: Final = Type("int")
UINT: Final = Type("uint")
DOUBLE: Final = Type("double")
STRING: Final = Type("string")
BYTES: Final = Type("bytes")
NAMES: Final = Type("names")

NUMBERS: Final = frozenset({"int", "uint", "double"})
SCALARS: Final = NUMBERS | {"bool", "string", "bytes"}

_OF_CLASS: Final[dict[type[Any], Type]] = {
    bool: BOOL,
    int: INT,
    Uint: UINT,
    float: DOUBLE,
    str: STRING,
    bytes: BYTES,
    type(None): NULL,
    Names: NAMES,
}


def list_of(item: Type) -> Type:
    """The type of a list with such elements."""
    return Type("list", item)


def map_of(value: Type) -> Type:
    """The type of a map with such values."""
    return Type("map", value)


def kind_of(value: Any) -> str:
    """The kind of a value, for messages."""
    known = _OF_CLASS.get(type(value))
    if known is not None:
        return known.kind
    if isinstance(value, dict):
        return "map"
    return "list" if isinstance(value, list | tuple) else type(value).__name__


def scalar_type(value: Any) -> Type:
    """The type of a literal."""
    return _OF_CLASS[type(value)]


def join(types: list[Type]) -> Type:
    """The type that all of these have in common; `dyn` where there is none."""
    first = next((each for each in types if each.kind != "null"), None)
    if first is None:
        return NULL if types else DYN
    if any(each.kind not in (first.kind, "null") for each in types):
        return DYN
    item = (
        join([each.item for each in types if each.item is not None])
        if first.item is not None
        else None
    )
    nullable = any(each.nullable for each in types)
    return Type(first.kind, item, nullable)


def article(known: Type) -> str:
    """A type with its article, for messages."""
    return a_kind(known.kind, str(known))


def a_kind(kind: str, shown: str = "") -> str:
    """A kind with its article; `shown` is what stands for it where there is more to say of the
    type."""
    return {"null": "null", "dyn": "a value", "names": "a set of names"}.get(
        kind, f"{'an' if kind == 'int' else 'a'} {shown if shown else kind}"
    )

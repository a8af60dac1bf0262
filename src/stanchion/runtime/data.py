"""Python values as plain data: what events carry and records keep."""

from __future__ import annotations

import math
from binascii import b2a_base64
from collections.abc import Mapping, Sequence, Set as AbstractSet, Sized
from datetime import date, datetime, time, timedelta
from enum import Enum
from os import PathLike, fspath
from typing import Any, Final

import msgspec

MAX_DEPTH: Final = 100
MAX_VALUES: Final = 1_000_000
"""How deep and how wide a value may be: what guards cannot be shown as a whole is refused as a whole."""


class Unreadable(ValueError):
    """A value is too deep or too large to be judged."""


_LARGE: Final = 1 << 63
_WRITTEN: Final = frozenset({("uuid", "UUID"), ("decimal", "Decimal"), ("fractions", "Fraction")})
"""Types shown as they are written; known by name, because importing them would cost every caller."""


def project(value: Any) -> Any:
    """A value as JSON-like data. What has no such form is named by its type, never by a repr that could leak."""
    return _project(value, 0, [MAX_VALUES])


def _project(value: Any, depth: int, left: list[int]) -> Any:
    kind = type(value)
    if kind is str:
        return value if value.isascii() or _encodable(value) else _spelled_out(value)
    if kind is int:
        return value if -_LARGE < value < _LARGE else {"$int": hex(value)}
    if value is None or kind is bool:
        return value
    if kind is float:
        return value if math.isfinite(value) else {"$float": str(value)}
    if depth >= MAX_DEPTH:
        raise Unreadable(f"it is nested deeper than {MAX_DEPTH} levels, or holds itself")
    if kind is dict:
        _count(value, left)
        return {
            name if type(name) is str else _written(name): _project(item, depth + 1, left)
            for name, item in value.items()
        }
    if kind is list or kind is tuple:
        _count(value, left)
        return [_project(item, depth + 1, left) for item in value]
    return _project_other(value, depth, left)


def _count(values: Sized, left: list[int]) -> None:
    left[0] -= len(values)
    if left[0] < 0:
        raise Unreadable(f"it has more than {MAX_VALUES:,} values")


def _written(name: Any) -> str:
    """A key that is no text, as text."""
    return name if isinstance(name, str) else text_of(name)


def _project_other(value: Any, depth: int, left: list[int]) -> Any:
    if isinstance(value, Enum):
        return _project(value.value, depth, left)
    if isinstance(value, str):
        return _project(str.__str__(value), depth, left)
    if isinstance(value, int):
        return _project(int(value), depth, left)
    if isinstance(value, bytes | bytearray | memoryview):
        return {"$bytes": b2a_base64(bytes(value), newline=False).decode("ascii")}
    if isinstance(value, PathLike):
        return _project(fspath(value), depth, left)
    if (type(value).__module__, type(value).__name__) in _WRITTEN:
        return str(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, msgspec.Struct):
        return {name: _project(getattr(value, name), depth + 1, left) for name in value.__struct_fields__}
    fields = getattr(value, "__dataclass_fields__", None)
    if fields is not None and not isinstance(value, type):
        return {name: _project(getattr(value, name), depth + 1, left) for name in fields}
    if isinstance(value, Mapping):
        return _project(dict(value), depth, left)
    if isinstance(value, AbstractSet):
        return sorted((_project(item, depth + 1, left) for item in value), key=_sortable)
    if isinstance(value, Sequence):
        return _project(list(value), depth, left)
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return _project(dump(), depth + 1, left)
    return {"$object": _name(value)}


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _spelled_out(text: str) -> str:
    """A text with the halves of characters that no encoding has written out, as `\\udc00`."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _name(value: Any) -> str:
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def _sortable(value: Any) -> bytes:
    return msgspec.json.encode(value, order="deterministic")


def text_of(value: Any) -> str:
    """A value as text: itself if it is one, its data as JSON otherwise."""
    return value if isinstance(value, str) else msgspec.json.encode(project(value), order="deterministic").decode()

"""Named tuples that are quick to make.

`typing.NamedTuple` compiles the annotation of every field when a class is made, which nobody asks
for, and a check of one event makes dozens of such classes. These are the same classes with the
annotations left as they are written.
"""

from __future__ import annotations

import sys
from collections import namedtuple
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (
    3,
    14,
):  # from there on annotations are compiled when they are asked for
    from typing import NamedTuple
else:
    _APART = frozenset({"__annotations__", "__module__"})

    class _Making(type):
        """Makes a named tuple of a class that is written as one."""

        def __new__(cls, name: str, bases: tuple[type, ...], names: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, names)
            fields = names.get("__annotations__", {})
            given = [names[field] for field in fields if field in names]
            for field in list(fields)[: len(fields) - len(given)]:
                if field in names:
                    raise TypeError(
                        f"`{name}.{field}` has a default, and a field behind it has none: put it "
                        f"last"
                    )
            made: Any = namedtuple(name, fields, defaults=given, module=names["__module__"])
            for each, value in names.items():
                if each not in fields and each not in _APART:
                    setattr(made, each, value)
            made.__annotations__ = made.__new__.__annotations__ = fields
            return made

    class NamedTuple(metaclass=_Making):
        """What `typing.NamedTuple` is."""


__all__ = ["NamedTuple"]

"""The strings of structured content, without where they stand: for guards that look before they
look closely."""

from __future__ import annotations

from typing import Any


def strings(content: Any) -> list[str]:
    """All strings of some content: its values in their order, and after them its names."""
    if type(content) is str:
        return [content]
    values: list[str] = []
    names: list[str] = []
    waiting = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            values.append(value)
        elif isinstance(value, dict):
            names += [name for name in value if isinstance(name, str)]
            waiting += reversed(value.values())
        elif isinstance(value, list | tuple):
            waiting += reversed(value)
    return values + names

"""Values: what stands in arguments and results, as short digests that are equal where the values
mean the same."""

from __future__ import annotations

from base64 import b85encode
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from stanchion.kernel.names import glob


def digest(value: Any) -> str:
    """A short name for a value: texts are compared without case and extra blanks, numbers by what
    they are worth."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        text = f"{value:.12g}"
    else:
        text = " ".join(str(value).split()).casefold()
    return b85encode(sha256(text.encode("utf-8", "surrogatepass")).digest()[:8]).decode()


def at(content: Any, path: str) -> list[Any]:
    """The texts and numbers under a dotted path; a list stands for all its items."""
    found = [content]
    for name in path.split("."):
        found = [inner for value in found for inner in _under(value, name)]
    return [leaf for value in found for leaf in _leaves(value)]


def fields(content: Any, wanted: str) -> list[Any]:
    """The texts and numbers of a result under names that fit a glob, at any depth; `*` stands for
    all of them."""
    if wanted == "*":
        return list(_leaves(content))
    return [
        leaf for name, value in _named(content) if glob(wanted, name) for leaf in _leaves(value)
    ]


def _under(value: Any, name: str) -> list[Any]:
    if isinstance(value, list | tuple):
        return [inner for item in value for inner in _under(item, name)]
    return [value[name]] if isinstance(value, dict) and name in value else []


def _leaves(value: Any) -> Iterator[Any]:
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += reversed(list(value.values()))
        elif isinstance(value, list | tuple):
            waiting += reversed(value)
        elif value is not None and not isinstance(value, bool):
            yield value


def _named(value: Any) -> Iterator[tuple[str, Any]]:
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            yield from value.items()
            waiting += reversed(list(value.values()))
        elif isinstance(value, list | tuple):
            waiting += reversed(value)

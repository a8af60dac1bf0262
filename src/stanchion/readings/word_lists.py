"""Lists of words as one text, which reads better than one word a line."""

from __future__ import annotations

from pkgutil import get_data

Strings = tuple[str, ...]
Pairs = tuple[tuple[str, str], ...]


def listed(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def in_order(text: str) -> tuple[str, ...]:
    """The words of a text, in their order."""
    return tuple(text.split())


def by_first(text: str) -> dict[str, Strings]:
    """The words of each line of a text, by the first of them."""
    return {first: tuple(rest) for first, *rest in map(str.split, text.strip().splitlines())}


def sections(package: str, file: str) -> dict[str, frozenset[str]]:
    """The words of a file of a package, by the titles in brackets above them."""
    body = get_data(package, file)
    parts = ("" if body is None else f"\n{body.decode()}").split("\n[")[1:]
    return {title: listed(text) for part in parts for title, _, text in [part.partition("]\n")]}

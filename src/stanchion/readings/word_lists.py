"""Lists of words as one text, which reads better than one word a line."""

from __future__ import annotations


def listed(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def in_order(text: str) -> tuple[str, ...]:
    """The words of a text, in their order."""
    return tuple(text.split())

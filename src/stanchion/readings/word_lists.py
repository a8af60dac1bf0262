"""Lists of words as one text, which reads better than one word a line."""

from __future__ import annotations


def listed(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())

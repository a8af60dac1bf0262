"""Lists of words, written as texts."""

from __future__ import annotations


def listed(words: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(words.split())

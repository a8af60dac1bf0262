"""Entropy: how little of a text can be guessed from its letters."""

from __future__ import annotations

from math import log2


def entropy(text: str) -> float:
    """How many bits each character of a text tells, by how often its characters come."""
    size = len(text)
    return (
        -sum([n / size * log2(n / size) for n in [text.count(char) for char in set(text)]])
        if size
        else 0.0
    )

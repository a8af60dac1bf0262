"""Copies: what was found to be a secret in one place is the same one wherever else it stands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stanchion.guards.secrets.entropy import entropy
from stanchion.readings.texts import Span

SHORTEST: Final = 10
"""What is shorter may stand somewhere by chance."""
LEAST: Final = 2.8
"""How many bits a character tells of what is no word that somebody chose."""
MOST: Final = 32
"""How many secrets are looked for again."""


def copied(texts: Sequence[str], found: list[list[Span]]) -> list[list[Span]]:
    """What was found in texts, and every copy of it in them."""
    values: dict[str, str] = {}
    for text, spans in zip(texts, found, strict=True):
        for span in spans:
            value = text[span.start : span.end]
            if value not in values and _telling(value):
                values[value] = span.kind
    for value in list(values)[:MOST]:
        for at, text in enumerate(texts):
            found[at] += _others(text, value, values[value], found[at])
    return found


def _telling(value: str) -> bool:
    """Whether nothing else is likely to be the same."""
    return (
        len(value) >= SHORTEST
        and any(char.isalpha() for char in value)
        and not value.isalpha()
        and entropy(value) >= LEAST
    )


def _others(text: str, value: str, kind: str, known: list[Span]) -> list[Span]:
    """Where a value stands in a text, outside of what is known there."""
    made: list[Span] = []
    at = text.find(value)
    while at >= 0:
        end = at + len(value)
        if not any(span.start <= at and end <= span.end for span in known):
            made.append(Span(at, end, kind))
        at = text.find(value, end)
    return made

"""Copies: what was found to be a secret in one place is the same one wherever else it stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stanchion.guards.secrets.entropy import entropy
from stanchion.readings.cover import Cover
from stanchion.readings.joined import Joined
from stanchion.readings.texts import Span

SHORTEST: Final = 10
"""What is shorter may stand somewhere by chance."""
LEAST: Final = 2.8
"""How many bits a character tells of what is no word that somebody chose."""
MOST: Final = 32
"""How many secrets are looked for again."""


def copied(given: Joined, found: list[list[Span]]) -> list[list[Span]]:
    """What was found in texts, and every copy of it in them that stands in nothing else."""
    values: dict[str, str] = {}
    places: list[tuple[int, int]] = []
    for begin, text, spans in zip(given.begins, given.texts, found, strict=False):
        for span in spans:
            places.append((begin + span.start, begin + span.end))
            value = text[span.start : span.end]
            if value not in values and _telling(value):
                values[value] = span.kind
    known, reach = Cover(places), 0
    copies = [copy for value in list(values)[:MOST] for copy in _copies(given.text, value)]
    for start, end in sorted(copies, key=lambda copy: (copy[0], -copy[1])):
        if end <= reach or known.holds(start, end):
            continue
        reach, at = end, given.which(start)
        begin = given.begins[at]
        found[at].append(Span(start - begin, end - begin, values[given.text[start:end]]))
    return found


def _telling(value: str) -> bool:
    """Whether nothing else is likely to be the same."""
    return (
        len(value) >= SHORTEST
        and any(char.isalpha() for char in value)
        and not value.isalpha()
        and entropy(value) >= LEAST
    )


def _copies(text: str, value: str) -> Iterator[tuple[int, int]]:
    """Where a value stands in a text."""
    at = text.find(value)
    while at >= 0:
        yield at, at + len(value)
        at = text.find(value, at + len(value))

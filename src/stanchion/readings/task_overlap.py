"""Drift: how little of what an action says has to do with what a task is about, by words and what
is written like them."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from stanchion.readings.names import words as words_of_name
from stanchion.readings.origins.words import stems, stems_of

SAME: Final = 1.0
NEAR: Final = 0.8
"""What a word counts that the task has, and one that is written like one of its words."""
ALIKE: Final = 0.33
"""Two words are alike if they share so many of their runs of letters: names are often made of words
of the task."""
RUN: Final = 4
LONG: Final = 5
"""Shorter words are not compared by their letters."""
LONGEST: Final = 4_000
"""How many characters of an action's texts are read."""
KEPT: Final = 1_024


class Topic(NamedTuple):
    """What a task is about: its telling words, and their runs of letters."""

    words: frozenset[str]
    runs: tuple[frozenset[str], ...]


class Drift(NamedTuple):
    """How many telling words a task and an action have, and how much of the action's the task
    covers, from 0 to 1."""

    task: int
    action: int
    covered: float


@lru_cache(KEPT)
def topic(text: str) -> Topic:
    """What a text is about."""
    found = stems(text[:LONGEST])
    return Topic(found, tuple([_runs(word) for word in sorted(found)]))


def drift(about: str, tool: str, text: str) -> Drift:
    """How far a call of a tool with these texts is from what a task is about."""
    task = topic(about)
    said = [*sorted(stems_of(list(words_of_name(tool)))), *sorted(stems(text[:LONGEST]))]
    covered = sum([_covered(word, task) for word in said])
    return Drift(len(task.words), len(said), round(covered / len(said), 4) if said else 1.0)


def _covered(word: str, task: Topic) -> float:
    if word in task.words:
        return SAME
    return NEAR if len(word) >= LONG and _is_alike(word, task) else 0.0


def _is_alike(word: str, task: Topic) -> bool:
    own = _runs(word)
    return any(len(own & other) >= ALIKE * len(own | other) for other in task.runs)


@lru_cache(65_536)
def _runs(word: str) -> frozenset[str]:
    ended = f"<{word}>"
    return frozenset([ended[at : at + RUN] for at in range(max(1, len(ended) - RUN + 1))])

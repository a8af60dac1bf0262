"""Clauses: a text sentence by sentence, cut where it turns to something else, each with what it
depends on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from stanchion.kernel.regex import regex
from stanchion.readings.claims.mood import CONDITION, is_ahead, leans

_SENTENCE: Final = regex(r"[^.!?\n;]{1,600}(?:\.(?=\w)[^.!?\n;]{0,200}){0,8}[.!?\n;]?")
_TURN: Final = regex(
    r"(?P<against>,? (?:but|however|although|though|while) )|, (?:and|so(?! that| as)) | – | — "
)
"""Where a sentence turns to something else."""
_AGAIN: Final = regex(
    r"^\W{0,6}(?:and |so )?(?:then|after that|afterwards|with that|that way|this way)\b"
)
"""How a sentence begins that goes on where the one before has ended."""
_TOLD: Final = regex(r"\b(?:\w+ed|ran|wrote|was|were|i|we)\b")
"""What is in a sentence that tells what happened."""


class Clause(NamedTuple):
    """`follows` is what stands behind it: the rest of its sentence and, on a line of its own, the
    next one."""

    text: str
    follows: str


def clauses(text: str, settled: re.Pattern[str] | None = None) -> Iterator[Clause]:
    """The clauses of a text. What depends on a condition, a plan, a place or a time stays with it;
    a condition that belongs to something `settled` goes no further."""
    sentences = [" ".join(sentence.split()) for sentence in _SENTENCE.findall(text)]
    before = ""
    for at, sentence in enumerate(sentences):
        if not sentence:
            continue
        if not sentence.endswith("?"):
            following = sentences[at + 1] if at + 1 < len(sentences) else ""
            yield from (
                ()
                if _is_consequence(sentence, before)
                else _of_sentence(sentence, following, settled)
            )
        before = sentence


def _is_consequence(sentence: str, before: str) -> bool:
    """Whether a sentence says what comes of a plan, a wish or a condition in the one before."""
    return _AGAIN.search(sentence) is not None and (
        is_ahead(before) or _TOLD.search(sentence) is None
    )


def _of_sentence(
    sentence: str, following: str, settled: re.Pattern[str] | None
) -> Iterator[Clause]:
    opened, leaning, start = "", "", 0
    for turn in [*_TURN.finditer(sentence), None]:
        end = len(sentence) if turn is None else turn.start()
        part = sentence[start:end]
        rest = "" if turn is None else sentence[turn.start() :]
        yield Clause(f"{opened}{leaning}{part}", f"{rest}\n{following}")
        if turn is None:
            return
        start = turn.end()
        if CONDITION.search(part) is not None and (settled is None or settled.search(part) is None):
            opened = f"{part}, "
        elif turn["against"] is not None:
            leaning = ""
        elif leans(part):
            leaning = f"{part}, and "

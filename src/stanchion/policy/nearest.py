"""The valid word that a mistaken one most likely meant."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from stanchion.kernel.declared import EFFECTS, FORMER
from stanchion.policy.other_words import meant_by, opposed, plain

LONGEST = 64
SHOWN = 16


def hint(word: str, words: Iterable[object]) -> str:
    """What to write instead: the nearest of the valid words, or all of them where none is near."""
    valid = tuple(dict.fromkeys(str(one) for one in words))
    effect = FORMER.get(word, word)
    if effect in EFFECTS and "open_world" in valid:  # what a tool does was among its annotations
        return f"write `effect: {effect}` in the tool's entry"
    near = meant_by(word, valid)
    near = nearest(word, valid) if near is None else near
    if near is not None and not opposed(word, near):
        return f"did you mean `{near}`?"
    if not valid:
        return "leave it out"
    listed = ", ".join(f"`{one}`" for one in sorted(valid)[:SHOWN])
    return (
        f"choose among {listed}"
        if len(valid) <= SHOWN
        else f"choose among {listed} and {len(valid) - SHOWN} more"
    )


@lru_cache(4_096)
def nearest(word: str, words: tuple[str, ...]) -> str | None:
    """The word that differs least, whatever its case, hyphens and underscores; `None` where none is
    near."""
    if len(word) > LONGEST:
        return None
    from difflib import get_close_matches

    by_sense = {plain(one): one for one in sorted(words, reverse=True)}
    near = get_close_matches(plain(word), sorted(by_sense), 1, 0.6)
    return by_sense[near[0]] if near else None

"""Hostile phrases: a text that addresses the agent, overrides what it was told, or wants to be kept
secret."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from stanchion.kernel.regex import regex
from stanchion.readings.hostile.languages import english
from stanchion.readings.hostile.sieve import compiled

MARKUP: Final = regex(r"<!--|-->|</?[a-zA-Z][^<>]{0,200}>|[*_`~]{1,3}")
MARKED: Final = regex(r"[<*_`~]")
REDACTED: Final = r"\[redacted:injection\]"
"""What another guard leaves in the place of a hostile text: it was there, though nobody can read it
any more."""
LONGEST: Final = 16_384
"""How much of a text is looked at in one piece."""


@cache
def _phrases(anywhere: bool, entrusted: bool) -> Any:
    phrases = "|".join((REDACTED, *english.HOSTILE, *(() if entrusted else english.SPOKEN_TO)))
    return compiled(phrases.replace(r"^\W*", "") if anywhere else phrases)


def hostile(text: str, entrusted: bool = False) -> bool:
    """Whether a sentence in its normal form has a phrase by which texts take an agent over, as it
    stands or under its markup. A text that the agent's work was entrusted to may speak to it."""
    return _found(text, _phrases(False, entrusted))


def may_be_hostile(text: str, entrusted: bool = False) -> bool:
    """Whether any sentence of a text in its normal form may be hostile."""
    engine = _phrases(True, entrusted)
    return any(_found(text[at : at + LONGEST], engine) for at in range(0, len(text), LONGEST))


def _found(text: str, engine: Any) -> bool:
    if engine.search(text.encode("utf-8", "replace")) is not None:
        return True
    return (
        MARKED.search(text) is not None
        and engine.search(plain(text).encode("utf-8", "replace")) is not None
    )


def plain(text: str) -> str:
    """A text without its markup."""
    return MARKUP.sub("", text)

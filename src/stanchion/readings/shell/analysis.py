"""Analysis: the commands that a shell text would run, and what could not be understood of it."""

from __future__ import annotations

import re
from functools import lru_cache
from shlex import quote
from typing import Final

import msgspec

from stanchion.readings.shell import shells, wrappers
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.limits import MAX_CHARS, Meter, TooMuch
from stanchion.readings.shell.reading import RESERVED
from stanchion.readings.shell.unfolding import UNFOLD
from stanchion.readings.shell.walking import Walker

KEPT: Final = 1_024
"""How many analysed texts are kept, so that a repeated one costs a look."""

PLAIN: Final = re.compile(r"[A-Za-z0-9 _./:,@%+-]*")
"""Characters none of which means anything to a shell; a text of these alone is split at its blanks."""

LOADED: Final = (shells, wrappers)
"""What enters the commands that run others."""


class Analysis(msgspec.Struct, frozen=True, gc=False):
    """What is known of a text: its commands in order, why it is `unclear` (over a limit) or `broken` (no shell accepts
    it), the steps it took, whether it gives a reason for itself (`BECAUSE='…'; …`), how often it cuts and changes
    what is not there: noise that only keeps people from reading it; and the files it writes, with what is known of
    what they then hold."""

    commands: tuple[Command, ...]
    unclear: str = ""
    broken: str = ""
    steps: int = 0
    reasoned: bool = False
    noise: int = 0
    wrote: tuple[tuple[str, str], ...] = ()


def analysed(text: str) -> Analysis:
    """Analyse a text, whatever it is."""
    if len(text) > MAX_CHARS:
        return Analysis((), f"it is longer than {MAX_CHARS:,} characters")
    return _kept(text)


def analyse(text: str) -> tuple[Command, ...]:
    """The commands that a shell text would run: their words, and what they read, write, delete and send to."""
    return analysed(text).commands


def analysed_words(words: tuple[str, ...]) -> Analysis:
    """Analyse a command whose words are given one by one."""
    return analysed(" ".join([quote(word) for word in words]))


@lru_cache(maxsize=KEPT)
def _kept(text: str) -> Analysis:
    words = text.split() if PLAIN.fullmatch(text) is not None else []
    if words and words[0].lower() not in UNFOLD and "/" not in words[0]:
        return Analysis((Command(tuple(words)),), steps=len(words))
    meter = Meter(len(text))
    walker = Walker(meter)
    unclear = ""
    try:
        if words and words[0] not in RESERVED:
            walker.plain(words)
        else:
            walker.whole(text)
    except TooMuch as error:
        unclear = str(error)
    except RecursionError:
        unclear = "it is nested too deeply"
    wrote = tuple(walker.wrote)
    return Analysis(tuple(walker.commands), unclear, walker.broken, meter.steps, walker.reasoned, meter.noise, wrote)

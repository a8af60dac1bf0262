"""Analysis: the commands that a shell text would run, and what could not be understood of it."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache, lru_cache
from shlex import join
from typing import TYPE_CHECKING, Final

import msgspec

from stanchion.kernel.regex import regex
from stanchion.kernel.sizes import LIMITS, ReadLimits
from stanchion.readings.names import TOOL
from stanchion.readings.shell import passed, shells, wrappers
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.options import DATA
from stanchion.readings.shell.passed import DOERS, pass_to_windows, pass_written
from stanchion.readings.shell.tree import Meter, TooMuch
from stanchion.readings.shell.unfold import UNFOLD
from stanchion.readings.shell.wrappers import RUNNERS

if TYPE_CHECKING:
    from stanchion.readings.shell.kept import FollowedText
    from stanchion.readings.shell.script import Walker

KEPT: Final = 1_024
"""How many analysed texts are kept, so that a repeated one costs a look."""

PLAIN: Final = regex(r"[A-Za-z0-9 _./:,@%+-]*")
"""Characters none of which means anything to a shell; a text of these alone is split at its
blanks."""


LATEST: Final[dict[str, FollowedText]] = {}
"""How the latest texts were followed, for whoever asks next how their commands stand in them."""
MOST_LATEST: Final = 8

LOADED: Final = (passed, shells, wrappers)
"""What enters the commands that run others: without it a text would be taken for one that runs
nothing else."""


class Analysis(msgspec.Struct, frozen=True, gc=False):
    """What is known of a text: its commands in order, why it is `unclear` (over a limit) or
    `broken` (no shell accepts it), the steps it took, how often it cuts and changes what is not
    there: noise that only keeps people from reading it; and the files it writes, with what is known
    of what they then hold. `passed` are commands that programs are given which may run them, or
    not."""

    commands: tuple[Command, ...]
    unclear: str = ""
    broken: str = ""
    steps: int = 0
    noise: int = 0
    wrote: tuple[tuple[str, str], ...] = ()
    passed: tuple[Command, ...] = ()


def analysed(text: str | tuple[str, ...], limits: ReadLimits = LIMITS) -> Analysis:
    """Analyse a text, whatever it is, or a command whose words are given one by one."""
    if not isinstance(text, str):
        if text[0] == TOOL:
            return _told(text)
        text = join(text)
    if len(text) > limits.command_chars:
        return Analysis((), f"it is longer than {limits.command_chars:,} characters")
    return _kept(text, limits)


@lru_cache(maxsize=KEPT)
def _told(words: tuple[str, ...]) -> Analysis:
    """The call of a tool, told as a command: nothing of its words is run."""
    return Analysis((Command(words),), steps=len(words))


def is_alone(text: str, words: list[str]) -> bool:
    """Whether a text of plain words is a command that starts no other."""
    name = words[0].lower()
    if name in UNFOLD or name in RUNNERS or "/" in name or ("-" in name and words[0] != name):
        return False
    return name in DATA or ("bin/" not in text and DOERS.isdisjoint(words[1:]))


@cache
def _walking() -> tuple[Collection[str], type[Walker]]:
    """What only texts need that are more than plain words: it is loaded with the first of them."""
    from stanchion.readings.shell.parse import RESERVED
    from stanchion.readings.shell.script import Walker

    return RESERVED, Walker


@lru_cache(maxsize=KEPT)
def _kept(text: str, limits: ReadLimits) -> Analysis:
    words = text.split() if PLAIN.fullmatch(text) is not None else []
    if words and is_alone(text, words):
        return Analysis((Command(tuple(words)),), steps=len(words))
    reserved, walk = _walking()
    meter = Meter(len(text), limits)
    walker = walk(meter)
    unclear = ""
    try:
        if words and words[0] not in reserved:
            walker.plain(words)
        else:
            walker.whole(text)
        if limits == LIMITS:
            if len(LATEST) >= MOST_LATEST:
                LATEST.clear()
            LATEST[text] = walker.so_far()
        if walker.wrote:
            pass_written(walker)
        pass_to_windows(walker, text)
    except TooMuch as error:
        unclear = str(error)
    except RecursionError:
        unclear = "it is nested too deeply"
    return Analysis(
        tuple(walker.commands),
        unclear if unclear else walker.unclear,
        walker.broken,
        meter.steps,
        meter.noise,
        tuple(walker.wrote),
        tuple(walker.passed),
    )

"""Signs: what is in every command that may reach for Stanchion, unless it does so by a folder
around its files."""

from __future__ import annotations

from typing import Final

from stanchion.guards._own import OwnPlaces
from stanchion.guards.shell.launchers import FOLLOWED, LAUNCHES, runs_code
from stanchion.guards.shell.reach import may_reach
from stanchion.kernel.regex import regex
from stanchion.readings.shell.command import Command

SIGNS: Final = ("stanchion", "tickets", "operators", "safe-mode", "-packages", "customize")
"""Our name, the words that only our program understands, and where Python keeps what it runs
first."""

_LIVE: Final = regex(r"[*?\[$%`]")
"""What may stand for any of them."""


def has_sign(command: Command, own: OwnPlaces) -> bool:
    """Whether a command has such a sign, or is given a text that has to be read to tell.

    1. Its words, folder, settings and redirections. 2. What a program reads that starts others, or
       runs code. 3. Code among its words. 4. A text among the words of a program that starts
       others.
    """
    text = command.line
    if command.cwd or command.settings:
        text = f"{command.cwd} {text} {command.settings}"
    if not text.isascii() or _LIVE.search(text) is not None:
        return True
    low = text.lower()
    for sign in SIGNS:
        if sign in low:
            return True
    if own.is_named(low):
        return True
    name = command.name
    if runs_code(name):
        return command.given is not None or may_reach(low, own)
    if name not in LAUNCHES:
        return False
    if command.given is not None:
        return True
    return name not in FOLLOWED and (
        text.count(" ") >= len(command.argv) + len(command.opens) or "\n" in text or "\t" in text
    )

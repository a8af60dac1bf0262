"""Repeating: whether a call that is made once more changes nothing, by its tool's name or by what
it runs."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from stanchion.readings.act import reads
from stanchion.readings.shell.analysis import analysed
from stanchion.readings.shell.command import Command
from stanchion.readings.shell.data import LOOKS_FOR, PRINTS
from stanchion.readings.word_lists import listed

SHOWS: Final = PRINTS | LOOKS_FOR | listed(
    "cat tac head tail nl od xxd hexdump strings wc sort uniq cut paste comm diff cmp column rev "
    "tr fold file stat ls dir tree du df basename dirname realpath readlink pwd cd true false : jq "
    "yq md5sum sha1sum sha256sum"
)  # fmt: skip
"""Programs that show something and change nothing; what they print may be written to a file."""
GIT_SHOWS: Final = listed("status log diff show ls-files rev-parse blame")
KEPT: Final = 256
"""Of how many texts it is remembered."""
SAME: Final = listed("> < <<< << 2> >& &>")
"""Redirections by which a file has the same in it afterwards, however often they are made."""


def is_the_same_again(reading: Any) -> bool:
    """Whether nothing changes when a call is made again: its tool only looks, or all that it runs
    shows something or writes the same to the same file."""
    held = reading.commands
    if not held:
        return reads(reading.event.tool)
    return all(not one.code and type(one.text) is str and _only_shows(one.text) for one in held)


@lru_cache(KEPT)
def _only_shows(text: str) -> bool:
    found = analysed(text)
    if found.unclear or found.broken or found.passed or not found.commands:
        return False
    return all(_shows(command) for command in found.commands)


def _shows(command: Command) -> bool:
    if not all(sign in SAME for sign, _ in command.opens):
        return False
    if command.name == "git":
        return command.operands[:1] != () and command.operands[0] in GIT_SHOWS
    return command.name in SHOWS and not command.deletes and not command.sends

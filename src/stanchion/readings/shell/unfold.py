"""Unfolding: commands that run other commands, and what they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from stanchion.readings.shell.patterns import fits, pieces
from stanchion.readings.shell.tree import Meter
from stanchion.readings.word_lists import in_order

Unfold = Callable[[Any, Any], str | None]
"""Follows what a command starts; gives what that prints, or None where it starts nothing."""

UNFOLD: Final[dict[str, Unfold]] = {}

EMBEDDED: Final = frozenset({"embedded"})
"""The mark of commands that stand in code, or in a text that is no shell's."""

PASSED_BY: Final[list[Callable[[Any, Any, str], None]]] = []
"""Follows what any other command is given, as if it ran it."""

SETTINGS_PASSED_BY: Final[list[Callable[[Any, Any, str], None]]] = []
"""Follows the variables of a command whose words are followed otherwise."""


def unfolds(names: str) -> Callable[[Unfold], Unfold]:
    """Enter a function as the one that follows what commands of these names start."""

    def enter(function: Unfold) -> Unfold:
        UNFOLD.update(dict.fromkeys(names.split(), function))
        return function

    return enter


COMMON: Final = in_order(
    "rm bash sh cat dd chmod chown curl wget nc ncat python3 python perl mkfs shred kill mv "
    "cp tee find xargs sudo printf base64 rev dash zsh crontab shutdown reboot git docker "
    "iptables useradd passwd tar ssh scp ls echo env head tail xxd node ruby"
)  # fmt: skip
"""Programs that a pattern in the place of a command's name is taken for, the first that fits."""


def likely(name: str, meter: Meter) -> str:
    """The program that a pattern with a folder stands for, or the pattern itself."""
    if "/" not in name or len(name) > 64:
        return name
    pattern = pieces(name)
    for program in COMMON:
        for folder in ("/bin", "/usr/bin", "/sbin", "/usr/sbin"):
            if fits(pattern, f"{folder}/{program}", meter):
                return f"{folder}/{program}"
    return name

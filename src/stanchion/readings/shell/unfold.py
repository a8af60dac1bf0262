"""Unfolding: commands that run other commands, and what they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from stanchion.readings.shell.limits import Meter
from stanchion.readings.shell.patterns import fits, pieces

if TYPE_CHECKING:
    from stanchion.readings.shell.kept import Call

Unfold = Callable[[Any, Any], str | None]
"""Follows what a command starts; gives what that prints, or None where it starts nothing."""

UNFOLD: Final[dict[str, Unfold]] = {}

EMBEDDED: Final = frozenset({"embedded"})
"""The mark of commands that stand in code, or in a text that is no shell's."""


def unfolds(
    *names: str,
) -> Callable[[Callable[[Any, Call], str | None]], Callable[[Any, Call], str | None]]:
    """Enter a function as the one that follows what these commands start."""

    def enter(function: Callable[[Any, Call], str | None]) -> Callable[[Any, Call], str | None]:
        UNFOLD.update(dict.fromkeys(names, function))
        return function

    return enter


COMMON: Final = (
    "rm", "bash", "sh", "cat", "dd", "chmod", "chown", "curl", "wget", "nc", "ncat", "python3",
    "python", "perl", "mkfs", "shred", "kill", "mv", "cp", "tee", "find", "xargs", "sudo", "printf",
    "base64", "rev", "dash", "zsh", "crontab", "shutdown", "reboot", "git", "docker", "iptables",
    "useradd", "passwd", "tar", "ssh", "scp", "ls", "echo", "env", "head", "tail", "xxd", "node",
    "ruby",
)  # fmt: skip
"""Programs that a pattern in the place of a command's name is taken for, the first that fits."""


def likely(name: str, meter: Meter) -> str:
    """The program that a pattern with a folder stands for, or the pattern itself."""
    if "/" not in name or len(name) > 64:
        return name
    pattern = pieces(name)
    for program in COMMON:
        for path in (
            f"/bin/{program}",
            f"/usr/bin/{program}",
            f"/sbin/{program}",
            f"/usr/sbin/{program}",
        ):
            if fits(pattern, path, meter):
                return path
    return name

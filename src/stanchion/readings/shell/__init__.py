"""Shell: a text read as a shell would read it, and followed to every command that would run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stanchion.readings.shell.command import Command

__all__ = ["analyse"]


def analyse(text: str) -> tuple[Command, ...]:
    """The commands that a shell text would run: their words, and what they read, write, delete and
    send to."""
    from stanchion.readings.shell.analysis import analysed

    return analysed(text).commands

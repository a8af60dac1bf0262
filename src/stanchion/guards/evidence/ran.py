"""What a shell text runs: its commands, what they change, and how each stands in the text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from stanchion.guards.evidence.targets import merges
from stanchion.readings.shell.outcome import decided


class Ran(NamedTuple):
    """A command of a shell text: its words, the files that it writes or deletes, and how it stands
    in the text.

    `chain` numbers the `&&` list that it is in, 0 where it is not sure that the list ends well only
    where it does; `last`: the text ends well only where it does; `heard`: nothing but what it
    prints is printed. `merges`: it brings changes to where others start from.
    """

    argv: tuple[str, ...]
    changes: tuple[str, ...] = ()
    chain: int = 0
    last: bool = False
    heard: bool = False
    merges: bool = False


def ran_by(text: str) -> Iterator[Ran]:
    """The commands that a shell text would run."""
    for command, standing in decided(text):
        yield Ran(command.argv, (*command.writes, *command.deletes), *standing, merges(command))

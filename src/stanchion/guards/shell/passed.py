"""Passed commands: what a program is given that may run it, or not; a person decides where it would
be dangerous."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from stanchion.guards.shell.consequence import level_of
from stanchion.guards.shell.places import Roots
from stanchion.guards.shell.worst import Danger, dangers
from stanchion.readings.shell.command import Command


def passed_dangers(commands: Sequence[Command], roots: Roots) -> Iterator[Danger]:
    """The dangers in what may run, each as a doubt; what would only be said aloud is not said."""
    for command in commands:
        for danger in dangers(command, roots):
            if level_of(danger.loss) in ("doubt", "danger"):
                yield danger._replace(
                    rule=msgspec.structs.replace(danger.rule, loss="unknown", known="")
                )

"""Untold files: what a call changes without anybody being able to tell which file it is."""

from __future__ import annotations

from typing import Final

from stanchion.guards.files.codes import shown
from stanchion.kernel.actions import Action
from stanchion.kernel.events import ToolCall
from stanchion.kernel.findings import Finding
from stanchion.readings import Reading

WHY: Final = "nobody can tell which files it changes, and only some may be changed"


def untold(reading: Reading[ToolCall], action: Action) -> Finding | None:
    """What is said, where only listed files may be written, against a command that writes a file
    which no text names: in a variable, or in code that works out its name."""
    for held in reading.commands:
        from stanchion.readings.shell.changed import changed_in

        for one in changed_in(held.text, reading.reader.limits):
            if not one.path:
                return Finding(action, "files.denied", (shown(one.by), "run", WHY))
    return None

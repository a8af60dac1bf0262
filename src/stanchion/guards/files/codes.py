"""What the files guard says, and how it quotes a path."""

from __future__ import annotations

from typing import Final

from stanchion.kernel.contract.values import Cure
from stanchion.kernel.words import Words, declare
from stanchion.readings.shortened import shorten

SHOWN: Final = 200
"""How much of a path is shown."""

CODES: Final = declare(
    {
        "files.denied": Words(
            "`{}` may not be {}: {}",
            "keep to the files that the task is about, or ask for others to be added",
        ),
        "files.protected": Words(
            "`{}` may not be {}: it is protected ({})",
            "leave it alone; ask a person for what you need from it",
        ),
        "files.instructs": Words(
            "`{}` is {}: {}",
            "keep to what the task asks for, and tell the user what you changed in it",
        ),
        "files.unclear": Words(
            "`{}` cannot be read as a path: {}",
            "write the path plainly, without escapes and special characters",
        ),
        "files.harms": Words(
            "`{}` would {} once it runs",
            "leave that out, or let a person read what is to be written first",
        ),
        "files.outside": Words(
            "`{}` leads outside of `{}`",
            "stay inside this folder, and name files by their path from it",
        ),
    }
)

CURES: Final = {
    "files.outside": (Cure("root+", "{path}", "path"), Cure("root+", "{folder}", "path")),
    "files.protected": (
        Cure("unprotected+", "{path}", "path"),
        Cure("protected_read", "escalate"),
        Cure("protected_write", "escalate"),
    ),
    "files.denied": (
        Cure("/tasks/{task}/files/write+", "{path}", "path"),
        Cure("read+", "{path}", "path"),
        Cure("write+", "{path}", "path"),
    ),
}
"""Lines that may cure what it says."""


def shown(text: str) -> str:
    """A path as a message quotes it: on one line, without what cannot be seen, not too long."""
    return shorten(text, SHOWN)

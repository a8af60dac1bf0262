"""What a host has said lately, so that each of its processes does not say it again when it
starts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from stanchion.telemetry.file_lock import attempt_within

FOLDER: Final = "said"
HELD: Final = "said.held"
PATIENCE_S: Final = 2.0
"""How long one waits for others to say something; then it may be said twice."""
LATELY_MS: Final = 86_400_000


@contextmanager
def by_turns(folder: Path) -> Iterator[None]:
    """Ask what was said, and say it, while no other process does. Where that cannot be, it is said
    all the same."""
    held = None
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        held = attempt_within(folder / HELD, PATIENCE_S)
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def was_said(folder: Path, message_id: str, now_ms: int) -> bool:
    """Whether a message was sent lately. What cannot be looked up was not."""
    try:
        at_ms = os.stat(folder / FOLDER / message_id).st_mtime * 1000
    except OSError:
        return False
    return 0 <= now_ms - at_ms + 1000 < LATELY_MS


def note_said(folder: Path, message_id: str) -> None:
    """Remember that a message is on its way, and forget what was said long ago. Where that cannot
    be written, it is said again."""
    with suppress(OSError):
        said = folder / FOLDER
        said.mkdir(mode=0o700, parents=True, exist_ok=True)
        (said / message_id).touch(0o600)
        newest = (said / message_id).stat().st_mtime
        for each in said.iterdir():
            if newest - each.stat().st_mtime > LATELY_MS / 1000:
                each.unlink(missing_ok=True)

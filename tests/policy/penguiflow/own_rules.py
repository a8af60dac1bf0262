"""Rules of a pack's author."""

from __future__ import annotations

import threading
from typing import Any


def tone(event: Any) -> str | None:
    """Refuses what is rude."""
    return "this is rude" if "rude" in str(getattr(event, "args", "")) else None


def hangs(event: Any, stop: threading.Event) -> None:
    """Answers nothing until nobody waits."""
    stop.wait(60)

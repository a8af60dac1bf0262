"""Rules of a pack's author."""

from __future__ import annotations

from typing import Any


def tone(event: Any) -> str | None:
    """Refuses what is rude."""
    return "this is rude" if "rude" in str(getattr(event, "args", "")) else None

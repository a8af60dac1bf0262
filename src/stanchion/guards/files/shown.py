"""Paths as messages quote them."""

from __future__ import annotations

from typing import Final

SHOWN: Final = 200
"""How much of a path is shown."""


def shown(text: str) -> str:
    """A path as a message quotes it: on one line, without what cannot be seen, not too long."""
    seen = "".join(
        [char if char.isprintable() and char != "`" else "?" for char in text[: SHOWN + 1]]
    )
    return seen if len(seen) <= SHOWN else f"{seen[:SHOWN]}…"

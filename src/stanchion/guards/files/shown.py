"""Paths as messages quote them."""

from __future__ import annotations

from typing import Final

from stanchion.readings.shortened import shorten

SHOWN: Final = 200
"""How much of a path is shown."""


def shown(text: str) -> str:
    """A path as a message quotes it: on one line, without what cannot be seen, not too long."""
    return shorten(text, SHOWN)

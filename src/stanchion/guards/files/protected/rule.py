"""Protected files: what they are, how they may not be used, and the paths that show it."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

Use = Literal["read", "write", "delete"]

EVERY: Final[tuple[Use, ...]] = ("read", "write", "delete")
CHANGES: Final[tuple[Use, ...]] = ("write", "delete")


class Protected(msgspec.Struct, frozen=True, gc=False):
    """Files that are protected: globs, how they may not be used, and names among them that are fine."""

    what: str
    globs: tuple[str, ...]
    uses: tuple[Use, ...] = EVERY
    fine: tuple[str, ...] = ()


Shown = tuple[tuple[str, Use], ...]
"""Paths and uses that show what a family of rules hits or misses."""


def homes(*names: str) -> tuple[str, ...]:
    """Globs of names in people's home folders, not of the same names elsewhere."""
    return tuple([f"{home}/{name}" for home in ("~", "/root", "/home/*", "/Users/*", "?:/users/*") for name in names])

"""Protected files: what they are, how they may not be used, and the paths that show it."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

import msgspec

Use = Literal["read", "write", "delete"]

EVERY: Final[tuple[Use, ...]] = ("read", "write", "delete")
CHANGES: Final[tuple[Use, ...]] = ("write", "delete")


class Protected(msgspec.Struct, frozen=True, gc=False):
    """Files that are protected: globs, how they may not be used, and whether a person is asked
    instead."""

    what: str
    globs: tuple[str, ...]
    uses: tuple[Use, ...] = EVERY
    asks: bool = False


class FileProtection(NamedTuple):
    """Why a file is protected, and whether a person is asked instead of refusing; or, of what is
    asked about, the agent is only told."""

    what: str
    asks: bool = False
    tells: bool = False

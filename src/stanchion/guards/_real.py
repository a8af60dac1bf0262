"""What guards ask the disk: where paths really lead."""

from __future__ import annotations

from typing import Any

import msgspec


class Asked(msgspec.Struct, frozen=True):
    """A question: the real paths of these folders, and of these paths as they are seen from the first folder or from
    the one beside them; where it matters, how the paths would be used, and for which task."""

    roots: tuple[str, ...]
    paths: tuple[tuple[str, str], ...]
    uses: tuple[Any, ...] = ()
    task: str = ""

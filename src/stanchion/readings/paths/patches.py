"""Patches: the files that a patch would change, by its own headers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from stanchion.kernel.regex import regex
from stanchion.readings.act import Use

MOST: Final = 256
"""How many headers of a patch are read."""

_HEADER: Final = regex(
    r"^(?:\*\*\* (Add|Update|Delete) File: |\*\*\* (Move) to: |(\+\+\+) |(---) |(rename|copy) to "
    r")([^\t\r\n]+)",
    re.MULTILINE,
)


def patched(text: str) -> Iterator[tuple[str, Use]]:
    """The files that a patch names, and whether it writes or deletes them; nothing where a text is
    no patch."""
    old = ""
    for found in list(_HEADER.finditer(text))[:MOST]:
        verb, path = next(part for part in found.groups()[:5] if part is not None), found[6].strip()
        if verb == "---":
            old = path
        elif verb == "+++" and path == "/dev/null":
            yield _stripped(old), "delete"
        elif path:
            path = _stripped(path) if verb == "+++" else path
            yield path, "delete" if verb == "Delete" else "write"


def _stripped(path: str) -> str:
    """A path of a header without the `a/` or `b/` that stands for the folder."""
    return path[2:] if path[:2] in ("a/", "b/") else path

"""The commands that the first law refuses to run. It is no wall: `rm -fr /` passes, and `echo
shutdown` does not."""

from __future__ import annotations

import re
from typing import Final

from stanchion.kernel.regex import regex

DENYLIST: Final = (
    r"rm\s+-rf\s+/",
    r"rm\s+-rf\s+\*",
    r"mkfs",
    r"dd\s+if=",
    r"shutdown",
    r"reboot",
    r":(){ :|:& };:",
    r">\s*/dev/sd",
    r"chmod\s+-R\s+777\s+/",
)
_COMPILED: Final = tuple((pattern, regex(pattern, re.IGNORECASE)) for pattern in DENYLIST)


def is_safe(command: str) -> tuple[bool, str]:
    """Whether none of them is in a command, and why not."""
    for pattern, compiled in _COMPILED:
        if compiled.search(command):
            return False, f"Command matches denylist pattern: {pattern}"
    return True, ""

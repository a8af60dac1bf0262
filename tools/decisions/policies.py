"""The policies that cases name: three packs as they are shipped, and one with every guard that needs no extra."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml

PACKS: Final = ("default", "strict", "coding-agent")
WHOLE: Final = "whole"
FILE: Final = Path(__file__).with_name("whole.yaml")
EXTRAS: Final = frozenset({"presidio", "sql"})
"""Guards that need a package which is not in the core."""


def source_of(policy: str) -> str | dict[str, Any]:
    """What to load for a policy that a case names. The one of our own is no file to the shield: guards keep agents off
    the files of policies, and where this one is differs between checkouts."""
    if policy != WHOLE:
        return policy
    read: dict[str, Any] = yaml.safe_load(FILE.read_text("utf-8"))
    return read

"""The policies that cases name: three packs as they are shipped, and one with every guard that
needs no extra."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

from stanchion.guards import SHIPPED

PACKS: Final = ("default", "strict", "coding-agent")
WHOLE: Final = "whole"
FILE: Final = Path(__file__).with_name("whole.yaml")
EXTRAS: Final = frozenset({"presidio", "sql"})
"""Guards that need a package which is not in the core."""


def source_of(policy: str) -> str | dict[str, Any]:
    """What to load for a policy that a case names. The one of our own is no file to the shield:
    guards keep agents off the files of policies, and where this one is differs between
    checkouts."""
    if policy != WHOLE:
        return policy
    read: dict[str, Any] = yaml.safe_load(FILE.read_text("utf-8"))
    written = {entry["use"] for entry in read["guards"]}
    return {
        **read,
        "guards": [*read["guards"], *[{"use": name} for name in plain() if name not in written]],
    }


def plain() -> list[str]:
    """The guards that need no extra and no option: a new one of them stands in the policy by
    itself."""
    kinds = [
        (name, msgspec.structs.fields(guard))
        for name, guard in SHIPPED.items()
        if name not in EXTRAS
    ]
    return [name for name, fields in kinds if not any(field.required for field in fields)]

"""The policies that cases name: frozen copies of the nine packs, and one with every guard but those
of heavy extras."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import msgspec
import yaml

from stanchion.guards import SHIPPED

PACKS: Final = ("default", "strict", "coding-agent")
"""Those under which every row is played."""
OTHERS: Final = ("agent-33", "database", "finance", "guardian", "mcp", "shadow-start")
"""Those of which some rows meet one."""
WHOLE: Final = "whole"
EXTRAS: Final = frozenset({"presidio"})
"""Guards that need a package which is too heavy to be loaded for this."""

FOLDER: Final = Path(__file__).with_name("packs")
ELSEWHERE: Final = "DECISIONS_PACKS"
"""Names the folder of another revision's copies: its code may not know the words of ours."""


def choose_further(row: str) -> tuple[str, ...]:
    """One of the other packs for every third row, and none for the rest."""
    drawn = crc32(row.encode())
    return () if drawn % 3 else (OTHERS[drawn // 3 % len(OTHERS)],)


def choose_one(row: str) -> tuple[str, ...]:
    """One of the nine packs, for rows that say much of the same."""
    return ((*PACKS, *OTHERS)[crc32(row.encode()) % (len(PACKS) + len(OTHERS))],)


def source_of(policy: str) -> dict[str, Any]:
    """What to load for a policy that a case names. It is no file to the shield: guards keep agents
    off the files of policies, and where these are differs between checkouts."""
    file = Path(os.environ.get(ELSEWHERE, FOLDER)) / f"{policy}.yaml"
    read: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))
    if policy != WHOLE:
        return read
    written = {entry["use"] for entry in read["guards"]}
    return {
        **read,
        "guards": [*read["guards"], *[{"use": name} for name in plain() if name not in written]],
    }


def plain() -> list[str]:
    """The guards that need no heavy extra and no option: a new one of them stands in the policy by
    itself."""
    kinds = [
        (name, msgspec.structs.fields(guard))
        for name, guard in SHIPPED.items()
        if name not in EXTRAS
    ]
    return [name for name, fields in kinds if not any(field.required for field in fields)]

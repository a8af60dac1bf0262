"""Where a trail keeps what: chains, their segments, and the folder in which state is kept by
default."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from stanchion.audit.errors import EARLIER, TrailError
from stanchion.folders import user_state
from stanchion.kernel.regex import regex

STATE_DIR: Final = "STANCHION_STATE_DIR"
HEAD: Final = "head"
HEAD_NEW: Final = "head.new"
LOCK: Final = "lock"
DOUBT: Final = "doubt"

CHAIN: Final = regex(r"[0-9a-f]{16}")
SEGMENT: Final = regex(r"([0-9]{8})\.jsonl")
CUT: Final = regex(r"cut\.[0-9]{1,18}")


def state_folder(environ: Mapping[str, str]) -> Path:
    """The folder for state: what `STANCHION_STATE_DIR` names, or the user's own."""
    folder = environ.get(STATE_DIR, "")
    if not folder:
        folder = user_state()
    if not Path(folder).is_absolute():
        raise OSError(
            f"the state folder `{folder}` is not an absolute path: set {STATE_DIR} to one"
        )
    return Path(folder)


def chains(trail: Path) -> list[str]:
    """The chains of a trail, sorted by name; none where there is no such folder."""
    try:
        with os.scandir(trail) as entries:
            found = [
                e.name
                for e in entries
                if CHAIN.fullmatch(e.name) and e.is_dir(follow_symlinks=False)
            ]
            return sorted(found)
    except FileNotFoundError:
        return []


def refuse_former(trail: Path) -> None:
    """Raise `TrailError` for a trail in a format that is not written any more."""
    for name in chains(trail)[:1]:
        for number in segments(trail / name)[:1]:
            with segment_file(trail / name, number).open("rb") as file:
                begins = file.read(256)
            if any(b'"body":{"v":%d,' % version in begins for version in (1, 2)):
                raise TrailError(EARLIER.format(f"`{trail}`"))


def segments(chain: Path) -> list[int]:
    """The numbers of a chain's segments, in order."""
    with os.scandir(chain) as entries:
        found = [
            SEGMENT.fullmatch(entry.name)
            for entry in entries
            if entry.is_file(follow_symlinks=False)
        ]
    return sorted(int(match[1]) for match in found if match is not None)


def segment_file(chain: Path, number: int) -> Path:
    """Where a segment is."""
    return chain / f"{number:08d}.jsonl"

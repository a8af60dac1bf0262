"""A forger's work: a copy of a trail with one bit of one record turned over."""

from __future__ import annotations

import shutil
from pathlib import Path


def forged_copy(trail: Path, copy: Path, record: int) -> Path:
    """Copy a trail and turn one bit over in the middle of a record's body, its first segment's line
    `record`."""
    shutil.copytree(trail, copy)
    segment = next(copy.glob("*/00000001.jsonl"))
    lines = segment.read_bytes().splitlines(keepends=True)
    line = bytearray(lines[record])
    line[-len(line) // 4] ^= 1
    lines[record] = bytes(line)
    segment.write_bytes(b"".join(lines))
    return copy

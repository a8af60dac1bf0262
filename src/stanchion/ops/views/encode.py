"""The JSON of views: one value a line, as every command with `--json` writes it."""

from __future__ import annotations

from typing import Any

import msgspec

from stanchion.kernel.shown import json_safe


def json_line(value: Any) -> bytes:
    """A value as one line of JSON that a terminal can show."""
    return json_safe(msgspec.json.encode(value)) + b"\n"

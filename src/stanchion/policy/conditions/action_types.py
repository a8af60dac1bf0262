"""The kinds of action that conditions tell apart."""

from __future__ import annotations

from typing import Final

TYPES: Final = (
    "file_read",
    "file_write",
    "file_delete",
    "command",
    "http",
    "tool",
    "model",
    "prompt",
    "handoff",
    "charge",
)
"""Every `action.type`."""

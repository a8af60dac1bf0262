"""Incidents and practices: one outcome of one call, and what is known of calls that are the
same."""

from __future__ import annotations

from typing import Any, Final

import msgspec

DAY_MS: Final = 86_400_000
MOST_REASON: Final = 300
"""How many characters of an error are kept."""
MOST_HINT: Final = 120


class Incident(msgspec.Struct, frozen=True):
    """What came of one call. `id` begins with its time, so that ids are in the order of time;
    `call_data` are the bounded arguments as JSON, without secrets. `known_good` says whether it may
    be told as a call that works."""

    id: str
    tenant: str
    session_id: str
    tool_name: str
    fingerprint: str
    success: bool
    at_ms: int
    error_reason: str = ""
    context_hint: str = ""
    call_data: str = "{}"
    known_good: bool = True

    @property
    def day(self) -> int:
        """The day on which it happened, counted from 1970."""
        return self.at_ms // DAY_MS

    @property
    def good_data(self) -> str | None:
        """Its arguments where they are those of a call that works; `None` otherwise."""
        return self.call_data if self.success and self.known_good else None


class Practice(msgspec.Struct, frozen=True):
    """Calls that are the same: how often they worked and failed, and the arguments of the last one
    that worked."""

    fingerprint: str
    tool_name: str
    success_count: int
    failure_count: int
    last_success_data: str
    last_ms: int

    @property
    def args(self) -> dict[str, Any]:
        """The arguments."""
        args: dict[str, Any] = msgspec.json.decode(self.last_success_data)
        return args


def new_id(at_ms: int, chance: bytes) -> str:
    """The id of an incident: its time, and what was drawn."""
    return f"{max(0, min(at_ms, (1 << 48) - 1)):012x}{chance.hex()}"


def first_id(at_ms: int) -> str:
    """What every id of that time and later is not less than."""
    return new_id(at_ms, b"")


def line_of(one: Incident) -> bytes:
    """An incident as a line of an archive."""
    said = {
        "id": one.id,
        "tenant": one.tenant,
        "session_id": one.session_id,
        "tool_name": one.tool_name,
        "fingerprint": one.fingerprint,
        "success": one.success,
        "timestamp": one.at_ms / 1000,
        "error_reason": one.error_reason,
        "context_hint": one.context_hint,
        "call_data": msgspec.Raw(one.call_data.encode()),
    }
    return msgspec.json.encode(said) + b"\n"

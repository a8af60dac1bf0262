"""The message that a destination gets: JSON as Standard Webhooks has it, the same for a command and
a webhook."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from stanchion.telemetry import loggers
from stanchion.telemetry.kinds import Kind, Occurrence, Severity

# Notices in the log: one line each, for the logger `stanchion.notices`.

_LEVELS: Final = {Severity.INFO: 20, Severity.WARNING: 30, Severity.CRITICAL: 40}
"""As `logging` numbers them: INFO, WARNING, ERROR."""


def log(one: Occurrence) -> None:
    """Write a line where somebody listens; a handler gets the occurrence itself as
    `record.occurrence`."""
    level = _LEVELS[one.severity]
    logger = loggers.heard(loggers.NOTICES, level)
    if logger is not None:
        said = msgspec.to_builtins(replace(one, asked=None))
        loggers.write(logger, level, line_of(one), {"occurrence": said})


def line_of(one: Occurrence) -> str:
    """An occurrence in one line: what it is, in words, how often, and whose."""
    names = [
        f"{name}={value}"
        for name in ("tenant", "run", "agent", "tool", "ticket", "decision", "id")
        if (value := getattr(one, name))
    ]
    often = f" ({one.times:,} times since {when(one.since)})" if one.times > 1 else ""
    return " ".join([f"{one.kind}: {one.text}{often}", *names])


def when(at_ms: int) -> str:
    """A time as all notices have it: RFC 3339, in UTC."""
    return (
        datetime.fromtimestamp(at_ms / 1000, UTC)
        .isoformat(timespec="milliseconds")
        .replace("+00:00", "Z")
    )


FOUND_ANEW: Final = frozenset({Kind.TRAIL_TAMPERED, Kind.STORE_FORGOT, Kind.DEFINITION_CHANGED})
"""Kinds that stand until somebody sees to them, and that each process finds when it starts."""
HOUR_MS: Final = 3_600_000


class NoticeMessage(msgspec.Struct, frozen=True):
    """What is sent: its id, which stays the same however often it is sent, and its text in JSON.
    With `once` a host does not send it again for a day, whichever of its processes finds it
    anew."""

    id: str
    body: str
    once: bool = False


class DeliveryOutcome(NamedTuple):
    """What came of an attempt: whether it was delivered, in words, whether it makes no sense to try
    again, and how many seconds the other side wants to be left alone."""

    delivered: bool
    said: str
    is_final: bool = False
    after_s: float = 0.0


class Destination(Protocol):
    """Where messages go."""

    def send(self, message: NoticeMessage) -> DeliveryOutcome:
        """Try once. It returns when that has succeeded or failed, and in bounded time."""


def message_of(one: Occurrence, host: str, **more: str) -> NoticeMessage:
    """An occurrence as it is sent, with what one destination is told besides. What every process
    finds anew has the same id from all of them."""
    once = one.hourly or one.kind in FOUND_ANEW
    if once:
        hour = str(one.at // HOUR_MS) if one.hourly else ""
        digest = sha256(
            "\0".join((host, hour, one.kind, one.tenant, one.about, one.text)).encode()
        ).hexdigest()
        one = replace(one, id=f"msg_{digest[:24]}")
    data: dict[str, Any] = {"id": one.id, "severity": one.severity, "text": one.text, "host": host}
    for name in ("about", "tenant", "run", "agent", "tool", "ticket", "decision"):
        if value := getattr(one, name):
            data[name] = value
    data |= more
    if one.times > 1:
        data |= {"times": one.times, "since": when(one.since)}
    whole = {"type": one.kind, "timestamp": when(one.at), "data": data}
    return NoticeMessage(one.id, msgspec.json.encode(whole).decode(), once)

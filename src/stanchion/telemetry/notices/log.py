"""Notices in the log: one line each, for the logger `stanchion.notices`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

import msgspec

from stanchion.telemetry import loggers
from stanchion.telemetry.kinds import Occurrence, Severity

_LEVELS: Final = {Severity.INFO: 20, Severity.WARNING: 30, Severity.CRITICAL: 40}
"""As `logging` numbers them: INFO, WARNING, ERROR."""


def log(one: Occurrence) -> None:
    """Write a line where somebody listens; a handler gets the occurrence itself as
    `record.occurrence`."""
    level = _LEVELS[one.severity]
    logger = loggers.heard(loggers.NOTICES, level)
    if logger is not None:
        loggers.write(logger, level, line_of(one), {"occurrence": msgspec.to_builtins(one)})


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

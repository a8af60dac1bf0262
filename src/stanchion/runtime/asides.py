"""Asides: why something could not be done, told to operators. Agents read that it could not, and no
more."""

from __future__ import annotations

from stanchion.audit.errors import AuditLost
from stanchion.kernel.state import StoreLost
from stanchion.telemetry import loggers


def aside(what: str, why: Exception) -> None:
    """Tell operators what could not be done, and why: in words that name hosts, files and ids."""
    area = (
        loggers.STORE
        if isinstance(why, StoreLost)
        else loggers.TRAIL
        if isinstance(why, AuditLost)
        else loggers.CALLS
    )
    loggers.say(area, loggers.ERROR, f"{what}: {why}")

"""Readings: what an event says, worked out once, lazily and purely; everything that judges asks
it."""

from __future__ import annotations

from stanchion.readings.reader import Reader, read
from stanchion.readings.reading import Reading

__all__ = ["Reader", "Reading", "read"]

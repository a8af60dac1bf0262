"""Readings: what an event says, worked out once, lazily and purely; everything that judges asks
it."""

from __future__ import annotations

from stanchion.readings.reading import Reader, Reading, read

__all__ = ["Reader", "Reading", "read"]

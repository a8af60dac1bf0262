"""What goes wrong with the place of a witness."""

from __future__ import annotations

from stanchion.kernel.shown import StanchionError


class BadPlace(StanchionError, ValueError):
    """A place that no witness can be kept at; its text says what to do."""


class Unreachable(StanchionError, OSError):
    """A place that cannot be written or read now; its text says why. Trying again may help."""

"""What is said to somebody who uses a dialect in a way that it cannot carry out."""

from __future__ import annotations

from stanchion.kernel.shown import StanchionError


class DialectError(StanchionError, ValueError):
    """Something was asked for that cannot be carried out; the text is one line that names the dialect's own word."""

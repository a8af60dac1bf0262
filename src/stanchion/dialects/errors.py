"""What is said to somebody who uses a dialect in a way that it cannot carry out."""

from __future__ import annotations

from stanchion.kernel.shown import StanchionError, one_line


class DialectError(StanchionError, ValueError):
    """Something was asked for that cannot be carried out; the text is one line that names the
    dialect's own word."""

    def __init__(self, message: str = "") -> None:
        # Here, because what a message names is often somebody else's: a model's, or what a file
        # holds.
        super().__init__(one_line(message))

"""What a command cannot work with."""

from __future__ import annotations


class BadInput(Exception):
    """What was typed or handed in cannot be used; each line says what is wrong and what to do."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines

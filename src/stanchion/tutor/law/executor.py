"""What a law hands its commands to."""

from __future__ import annotations

from typing import Protocol


class Executor(Protocol):
    """Runs commands, or does not; what it says is all that the law knows of the world."""

    def is_safe(self, command: str, /) -> tuple[bool, str]:
        """Whether it would run a command, and why not."""

    def execute(self, command: str, mode: str = "read", /) -> tuple[int, str, str]:
        """Run a command; gives its exit status, output and errors. What was not run has the status
        -1."""

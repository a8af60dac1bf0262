"""A real terminal for tests: a program that belongs to it, and a person who reads and types."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

BELONGS = """
import fcntl, os, sys, termios
fcntl.ioctl(os.open(sys.argv[1], os.O_RDWR), termios.TIOCSCTTY, 0)
"""
"""What a session's first process does to have a terminal of its own."""


class Person:
    """Sits at a terminal: reads its screen, and types."""

    def __init__(self, own: int, terminal: int) -> None:
        self._own = own
        self.terminal = terminal
        self.screen = ""

    def reads(self, pattern: str, until: subprocess.Popen[bytes] | None = None) -> str:
        """Wait until the screen shows something; gives what the pattern's group has, or nothing
        where the program that would show it has ended."""
        while (found := re.search(pattern, self.screen)) is None:
            if until is not None and not select.select([self._own], [], [], 0.05)[0]:
                if until.poll() is not None:
                    return ""
                continue
            part = os.read(self._own, 4096)
            self.screen += part.decode("utf-8", "replace")
        return found[1] if found.groups() else found[0]

    def types(self, text: str) -> None:
        """Type something."""
        os.write(self._own, text.encode())

    def start(self, code: str, stdin: bytes = b"", belongs: bool = True) -> str:
        """Run a Python program at the terminal to its end; gives what it prints, which goes to a
        pipe."""
        program = self.begin(code, belongs)
        said, _ = program.communicate(stdin)
        return said.decode()

    def begin(self, code: str, belongs: bool = True, **options: Any) -> subprocess.Popen[bytes]:
        """Start a Python program at the terminal; its input and output are pipes."""
        return subprocess.Popen(
            [sys.executable, "-c", (BELONGS if belongs else "") + code, os.ttyname(self.terminal)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if options else None,
            start_new_session=True,
            **options,
        )

    def hangs_up(self) -> None:
        """Close the terminal."""
        os.close(self._own)
        self._own = -1

    def leaves(self) -> None:
        """Give the terminal back."""
        with suppress(OSError):
            os.close(self._own)
        os.close(self.terminal)


@contextmanager
def person() -> Iterator[Person]:
    """Somebody at a terminal of their own."""
    someone = Person(*os.openpty())
    try:
        yield someone
    finally:
        someone.leaves()

"""The threads that came after a moment: those that tests before have left do not count."""

from __future__ import annotations

import threading


class NewThreads:
    """Knows which threads there were when it was made."""

    def __init__(self) -> None:
        self._before = frozenset(threading.enumerate())

    def named(self, name: str) -> list[threading.Thread]:
        """The others that have that name."""
        return [
            one for one in threading.enumerate() if one.name == name and one not in self._before
        ]

"""Reading what a command prints: each pipe up to a bound, until a deadline."""

from __future__ import annotations

import os
import selectors
import time
from typing import Final

CHUNK: Final = 65_536


class Reading:
    """Reads what a command prints, each pipe up to a bound, until a deadline."""

    def __init__(self, pipes: list[int], most: tuple[int, ...], deadline: float) -> None:
        self._pipes, self._most, self._deadline = pipes, most, deadline
        self.got = [bytearray() for _ in pipes]
        self._selector = selectors.DefaultSelector()
        for place, pipe in enumerate(pipes):
            os.set_blocking(pipe, False)
            self._selector.register(pipe, selectors.EVENT_READ, place)

    def read(self) -> str:
        """Read to the end; says why it was not waited for."""
        while self._selector.get_map():
            left = self._deadline - time.monotonic()
            if left <= 0:
                return "time"
            for key, _ in self._selector.select(left):
                place: int = key.data
                came = os.read(key.fd, CHUNK)
                if not came:
                    self._selector.unregister(key.fd)
                    continue
                room = self._most[place] - len(self.got[place])
                self.got[place] += came[:room]
                if len(came) > room:
                    return "output"
        return ""

    def drain(self, until: float) -> None:
        """Wait until nobody holds the pipes any more, whatever comes out of them."""
        while self._selector.get_map() and (left := until - time.monotonic()) > 0:
            for key, _ in self._selector.select(left):
                if not os.read(key.fd, CHUNK):
                    self._selector.unregister(key.fd)

    def close(self) -> None:
        """Let go of the pipes."""
        self._selector.close()
        for pipe in self._pipes:
            os.close(pipe)

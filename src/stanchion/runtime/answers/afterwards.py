"""Afterwards: judging that nobody waits for, one after the other in a thread that is there while
there is some."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from stanchion.runtime.asides import aside

FINISH_S: Final = 5.0
"""How long whoever closes waits for what is under way."""

Work = tuple[str, Callable[[], Any]]
"""What it is, in words, and what does it."""


class Left(Exception):
    """Work was left because there was no time for it."""


class Afterwards:
    """Work that nobody waits for. What fails or is left is told to operators."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[Work] = deque()
        self._at_work = False

    def put(self, what: str, does: Callable[[], Any]) -> None:
        """Have something done, behind what was put before it."""
        with self._changed:
            self._waiting.append((what, does))
            if self._at_work:
                return
            self._at_work = True
        threading.Thread(target=self._work, name="stanchion-afterwards", daemon=True).start()

    def finish(self, wait_s: float = FINISH_S) -> bool:
        """Wait until all is done, at most so long; says whether it is. What is left then has no one
        to do it."""
        with self._changed:
            done = self._changed.wait_for(lambda: not self._at_work, wait_s)
            left, self._waiting = list(self._waiting), deque()
        for what, _ in left:
            aside(f"{what} was left", Left("there was no time for it"))
        return done and not left

    def _work(self) -> None:
        while True:
            with self._changed:
                if not self._waiting:
                    self._at_work = False
                    self._changed.notify_all()
                    return
                what, does = self._waiting.popleft()
            try:
                does()
            except Exception as error:  # noqa: BLE001 - nobody is there who could be given it, and the next has its turn
                aside(f"{what} failed", error)

"""Lines of the log are written by a thread of their own.

`logging` takes its locks and gives them back in plain Python. An exception that a signal handler
raises, or another thread sends, can strike in between; the lock stays held then, and whoever logs
anything waits for ever. So a thread that works for an agent never logs: it hands the line over, and
waits until it is written, though not for long, since a handler may itself wait for this very
thread.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from typing import Final

from stanchion.locks import Bell, Lock

PATIENCE_S: Final = 0.5
"""How long a line is waited for. Once one took longer, none is waited for until all that came
before are written."""
MOST: Final = 10_000
"""How many lines wait behind a handler that is stuck; beyond that the oldest are dropped."""


class LogThread:
    """Does pieces of work one after the other in a thread that nobody interrupts."""

    def __init__(self) -> None:
        self._over = False
        self.fresh()

    def fresh(self) -> None:
        """Begin anew: a forked process has no thread, and what waited is the parent's."""
        self._busy = Lock()
        self._bell = Bell()
        self._waiting: deque[tuple[Callable[[], object], Bell]] = deque(maxlen=MOST)
        self._thread: threading.Thread | None = None
        self._patient = True

    def end(self) -> None:
        """The interpreter is about to end: from now on whoever asks does the work."""
        self._over = True
        self._all()

    def do(self, work: Callable[[], object]) -> None:
        """Have a piece of work done, and wait for it a while. What it raises is dropped."""
        if self._over or self._is_here() or not self._started():
            _done(work)
            return
        written, context = Bell(), copy_context()
        self._waiting.append((lambda: context.run(work), written))
        self._bell.set()
        if self._patient and not written.wait(PATIENCE_S):
            self._patient = False

    def _is_here(self) -> bool:
        thread = self._thread
        return thread is not None and thread.ident == threading.get_ident()

    def _started(self) -> bool:
        if self._thread is not None:
            return True
        with self._busy:
            if self._thread is None:
                thread = threading.Thread(target=self._work, name="stanchion-log", daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # there can be no more threads
                    return False
                self._thread = thread
        return True

    def _work(self) -> None:
        while True:
            self._bell.wait()
            self._bell.clear()
            self._all()
            self._patient = True

    def _all(self) -> None:
        while True:
            try:
                work, written = self._waiting.popleft()
            except IndexError:
                return
            _done(work)
            written.set()


def _done(work: Callable[[], object]) -> None:
    with suppress(Exception):
        work()


apart: Final = LogThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=apart.fresh)
atexit.register(apart.end)

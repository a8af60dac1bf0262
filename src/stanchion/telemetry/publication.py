"""Publication: a process writes its figures to a file of its own, about once a second and when it
ends."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final
from weakref import WeakSet

from stanchion.locks import Lock
from stanchion.locks.forks import tell_of_forks
from stanchion.telemetry.catalogue import Metric
from stanchion.telemetry.figures import Sum
from stanchion.telemetry.file_lock import hold
from stanchion.telemetry.folder import LOCK, VERSION, Page, compact, write
from stanchion.telemetry.registry import Registry

EVERY_S: Final = 1.0
"""How long after the figures were written they are looked at again."""


class Publication:
    """Keeps the figures of a registry in a folder. It begins when the first thing is counted, in a
    thread that ends with the process; whatever goes wrong is told to `failed` and tried again."""

    def __init__(
        self,
        registry: Registry,
        folder: Path,
        failed: Callable[[Exception], None],
        every_s: float = EVERY_S,
    ) -> None:
        self.folder = folder
        self.name = ""
        """What its file is called; empty as long as there is none."""
        self.also: Callable[[], None] | None = None
        """What is done whenever the figures are looked at."""
        self._registry, self._failed, self._every_s = registry, failed, every_s
        self._lock: int | None = None
        self._fresh()
        registry.begun = self.begin
        _known.add(self)
        tell_of_forks(self)

    def _fresh(self) -> None:
        self._busy = Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._written: object = None
        self._closed = False

    def forked(self) -> None:
        """In a forked process: leave the parent's file alone, and begin one of its own when
        something is counted."""
        if self._lock is not None:
            with suppress(OSError):
                os.close(self._lock)  # the parent has it open too, and keeps the lock
        closed = self._closed
        self._lock, self.name = None, ""
        self._fresh()
        self._closed = closed

    def begin(self) -> None:
        """Start writing now and then."""
        with self._busy:
            if self._thread is not None or self._closed:
                return
            self._thread = threading.Thread(
                target=self._work, name="stanchion-metrics", daemon=True
            )
            self._thread.start()
        if "multiprocessing.util" in sys.modules:
            # Children of `multiprocessing` end without what `atexit` has to do.
            from multiprocessing.util import Finalize

            Finalize(None, _last_of, args=(os.getpid(),), exitpriority=0)

    def publish(self) -> None:
        """Write the figures where they have changed."""
        try:
            with self._busy:
                self._publish()
        except Exception as error:  # noqa: BLE001 - figures may be lost, what is counted goes on
            self._failed(error)

    def _publish(self) -> None:
        total = Sum()
        total.add(self._registry.figures())
        series = total.figures()
        if series == self._written or (not series and self._written is None):
            return
        if self._lock is None:
            self._enter()
        write(self.folder, self.name, Page(VERSION, series))
        self._written = series

    def _enter(self) -> None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = f"{os.getpid()}-{os.urandom(8).hex()}"
        self._lock = hold(self.folder / f"{name}{LOCK}")
        self.name = name
        compact(self.folder)

    def _work(self) -> None:
        while not self._stop.wait(self._every_s):
            if self.also is not None:
                self.also()
            self.publish()

    def close(self) -> None:
        """Write the figures for the last time; they stay, as those of one that has ended."""
        if self._closed:
            return
        self._closed = True
        self._stop.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self.publish()
        if self._lock is not None:
            with suppress(OSError):
                os.close(self._lock)
            self._lock = None


def count_once(folder: Path, metric: Metric, *labels: str) -> None:
    """Count one thing, for a process that has no shield to count with; figures that cannot be
    written are lost."""
    registry = Registry()
    publication = Publication(registry, folder, lambda _: None)
    registry.count(metric, *labels)
    publication.close()


_known: WeakSet[Publication] = WeakSet()


def _last_of(process: int) -> None:
    if process == os.getpid():
        _last()


def _last() -> None:
    for one in list(_known):
        one.close()


atexit.register(_last)

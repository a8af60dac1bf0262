"""The folder of figures: each process writes its own file there, and whoever asks adds them up.

A file is replaced as a whole, so nobody reads half of one. Beside it stands a lock that its process
holds while it lives. What the dead have counted goes into one file of totals, which names the files
that are in it: a crash between writing the totals and removing a file counts nothing twice.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple
from weakref import WeakSet

import msgspec

from stanchion import typed
from stanchion.locks import Lock
from stanchion.locks.files import attempt, hold, is_held
from stanchion.locks.forks import tell_of_forks
from stanchion.telemetry.catalogue import Metric
from stanchion.telemetry.registry import FigureSum, Registry, Series

VERSION: Final = 1
FIGURES: Final = ".figures"
LOCK: Final = ".lock"
TOTALS: Final = "totals"
"""The name of the file in which the figures of the dead are."""
LARGEST: Final = 4 * 1024 * 1024
"""A larger file is not read: no process writes one."""
MOST_FILES: Final = 16
"""How many files there are before those of the dead are added up."""
STALE_S: Final = 3_600
"""How old a lock without figures is when it is removed."""
TRIES: Final = 5


class FigurePage(msgspec.Struct, frozen=True):
    """What one file holds: the figures of a process, or the totals with the names of those that are
    in them."""

    version: int
    series: tuple[Series, ...]
    contains: frozenset[str] = frozenset()


class Collected(NamedTuple):
    """The figures of all processes, how many of them are alive, and how many files could not be
    read."""

    figures: FigureSum
    alive: int
    unreadable: int


_decode: Final = typed.reader(FigurePage).decode


def write(folder: Path, name: str, page: FigurePage) -> None:
    """Replace the file of a process, or the totals."""
    replace_file(folder / f"{name}{FIGURES}", page)


def replace_file(path: Path, holds: msgspec.Struct) -> None:
    """Replace a file as a whole."""
    new = path.with_name(f"{path.stem}.{os.urandom(4).hex()}.new")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    file = os.open(new, flags, 0o600)
    try:
        with open(file, "wb") as out:
            out.write(msgspec.json.encode(holds))
        os.replace(new, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(new)
        raise


def read(folder: Path, name: str) -> FigurePage | None:
    """A file; `None` where it is gone. `OSError` where it cannot be read, `ValueError` where it
    holds no figures."""
    try:
        with open(folder / f"{name}{FIGURES}", "rb") as file:
            text = file.read(LARGEST + 1)
    except FileNotFoundError:
        return None
    if len(text) > LARGEST:
        raise ValueError(f"it is larger than {LARGEST >> 20} MiB")
    page = _decode(text)
    if page.version != VERSION:
        raise ValueError(f"it has version {page.version}, and this reads {VERSION}")
    return page


def collect(folder: Path, but: str = "") -> Collected:
    """Add up the figures of all processes, dead ones too, without those of the one that is named
    `but`. A folder that is not there has none; `OSError` where it cannot be read."""
    found, before = _collected(folder, but)
    for _ in range(TRIES):
        # Whoever adds the dead up meanwhile replaces the totals before it removes a file.
        if _mark(folder) == before:
            break
        found, before = _collected(folder, but)
    return found


def _collected(folder: Path, but: str) -> tuple[Collected, tuple[int, int] | None]:
    before = _mark(folder)
    total, alive, unreadable = FigureSum(), 0, 0
    contains: frozenset[str] = frozenset()
    for name in (TOTALS, *_names(folder)):
        if name == but or name in contains:
            continue
        try:
            page = read(folder, name)
        except (OSError, ValueError):
            unreadable += 1
            continue
        if page is None:
            continue
        if name == TOTALS:
            contains = page.contains
        lives = name != TOTALS and _lives(folder, name)
        alive += lives
        total.add(page.series, gauges=lives)
    return Collected(total, alive, unreadable), before


def compact(folder: Path, most: int = MOST_FILES) -> int:
    """Put the figures of the dead into the totals where there are more than so many files; says how
    many were. Where somebody else does so already, or the folder cannot be written, it is left for
    another time."""
    names = _names(folder)
    if len(names) <= most:
        return 0
    lock = attempt(folder / f"{TOTALS}{LOCK}", create=True)
    if lock is None:
        return 0
    try:
        return _compacted(folder)
    finally:
        os.close(lock)


def _compacted(folder: Path) -> int:
    before = _totals(folder)
    total = FigureSum()
    total.add(before.series, gauges=False)
    names = _names(folder)
    gone: list[str] = [name for name in names if name in before.contains]
    dead = 0
    for name in names:
        if name in before.contains or _lives(folder, name):
            continue
        try:
            page = read(folder, name)
        except OSError:
            continue
        except ValueError:
            _remove(folder, name)  # no process is there who could write it anew
            continue
        if page is not None:
            total.add(page.series, gauges=False)
            gone.append(name)
            dead += 1
    if dead:
        write(folder, TOTALS, FigurePage(VERSION, total.figures(), frozenset(gone)))
    for name in gone:
        _remove(folder, name)
    _tidy(folder)
    return dead


def _totals(folder: Path) -> FigurePage:
    """The totals so far; those that are broken are put aside, and counting begins anew."""
    try:
        found = read(folder, TOTALS)
    except ValueError:
        os.replace(folder / f"{TOTALS}{FIGURES}", folder / f"{TOTALS}.broken")
        found = None
    return FigurePage(VERSION, ()) if found is None else found


def _remove(folder: Path, name: str) -> None:
    for end in (FIGURES, LOCK):
        with suppress(OSError):
            os.unlink(folder / f"{name}{end}")


def _tidy(folder: Path) -> None:
    """Remove what processes left that were cut off between two steps."""
    long_ago = time.time() - STALE_S
    for entry in list(os.scandir(folder)):
        half = entry.name.endswith(".new") or (
            entry.name.endswith(LOCK)
            and entry.name != f"{TOTALS}{LOCK}"
            and not os.path.exists(folder / f"{entry.name.removesuffix(LOCK)}{FIGURES}")
        )
        with suppress(OSError):
            if half and entry.stat(follow_symlinks=False).st_mtime < long_ago:
                free = attempt(Path(entry.path)) if entry.name.endswith(LOCK) else -1
                if free is not None:
                    os.unlink(entry.path)
                    if free >= 0:
                        os.close(free)


def _names(folder: Path) -> list[str]:
    """The processes that have a file."""
    try:
        found = os.listdir(folder)
    except FileNotFoundError:
        return []
    names = [name.removesuffix(FIGURES) for name in found if name.endswith(FIGURES)]
    return sorted(set(names) - {TOTALS})


def _lives(folder: Path, name: str) -> bool:
    """Whether the process of a file is there still: it holds its lock."""
    return is_held(folder / f"{name}{LOCK}")


def _mark(folder: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(folder / f"{TOTALS}{FIGURES}")
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


# Publication: a process writes its figures to a file of its own, about once a second and when it
# ends.

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
        total = FigureSum()
        total.add(self._registry.figures())
        series = total.figures()
        if series == self._written or (not series and self._written is None):
            return
        if self._lock is None:
            self._enter()
        write(self.folder, self.name, FigurePage(VERSION, series))
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

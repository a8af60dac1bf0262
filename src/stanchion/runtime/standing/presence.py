"""This process, noted in the folder of a state while a run is open on it: a file that it holds
locked.

The system lets go of the lock however the process ends. Where the folder cannot be written, and on
Windows, nothing is noted and runs go on all the same. The child of a fork has none of its parent's
runs.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion.audit.layout import state_folder
from stanchion.kernel.shown import StanchionError
from stanchion.locks import Reentrant
from stanchion.runtime.standing.live import FOLDER, Live, beside, live_runs, name_of
from stanchion.runtime.standing.processes import Asker, asker, this_process
from stanchion.stores.protocol import is_lasting


class NoLocks(StanchionError, OSError):
    """This system has not the file locks that state and trail rely on."""


def need_locks() -> None:
    """Raise where the system has no POSIX locks: two processes could then write one trail and spend
    one budget."""
    try:
        import fcntl  # noqa: F401  # only whether it is there
    except ImportError:
        raise NoLocks(
            "Stanchion needs the file locks of a POSIX system (`fcntl`), which are missing here: "
            "run it on Linux; "
            "on Windows, in WSL"
        ) from None


with contextlib.suppress(ImportError):  # where there is none, no shield is made
    # When the interpreter ends, runs that are still open end as well, and nothing can be imported
    # any more.
    import fcntl

__all__ = [
    "Asker",
    "Live",
    "Presence",
    "Stay",
    "asker",
    "beside",
    "live_runs",
    "presence_of",
    "state_of",
]

SQLITE: Final = "sqlite:"

LONGEST_CHANGE_S: Final = 10.0
"""How long a process that forks waits for a change to end: far longer than any takes."""

TRIES: Final = 64
"""How often a file is made anew where somebody who looks has removed it before it was locked."""

_changing: Final = Reentrant()
"""Held while a note changes, and while this process forks. A run that is collected may end within a
change by the same thread: the order of the steps allows for that."""

_known: Final[weakref.WeakSet[Presence]] = weakref.WeakSet()
_minds_forks: list[bool] = []


class Stay:
    """One open run; it ends at the latest when nothing refers to it any more, and once."""

    __slots__ = ("_ended", "_number", "_presence")

    def __init__(self, presence: Presence, number: int) -> None:
        self._presence = presence
        self._number = number
        self._ended = False

    def end(self) -> None:
        """The run is open no longer."""
        if not self._ended:
            self._ended = True
            self._presence.leave(self._number)

    __del__ = end


class Presence:
    """This process at the state in a folder: noted while a run is open. Between runs the file
    stays, unlocked, so that another run costs no file."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self._numbers = itertools.count()
        self._open: set[int] = set()
        self._file = -1
        self._path = state
        self._locked = False
        self._process = os.getpid()
        with _changing:
            _mind_forks()
            _known.add(self)

    def enter(self) -> Stay:
        """A run opens."""
        with _changing:
            number = next(self._numbers)
            stay = Stay(self, number)  # first: of one that is cut off after that nothing is left
            self._open.add(number)
            if not self._locked:
                self._locked = self._lock()
            return stay

    def leave(self, number: int) -> None:
        """A run has ended; with the last one the file is unlocked. One that is collected while its
        process forks is the parent's, who holds what a child would wait for."""
        if os.getpid() != self._process:
            return
        with _changing:
            self._open.discard(number)
            if self._locked and not self._open:
                self._locked = False
                _unlock(self._file)

    def close(self) -> None:
        """Remove the file, unless it is the parent's."""
        if os.getpid() != self._process:
            self.forget()
            return
        with _changing:
            if self._file >= 0:
                with contextlib.suppress(OSError):
                    self._path.unlink()
            self.forget()

    __del__ = close

    def forget(self) -> None:
        """Let go of the file and of the open runs, which are the parent's in the child of a fork.
        The lock is the parent's, too: it is not unlocked."""
        self._process = os.getpid()
        self._open.clear()
        self._locked = False
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)

    def _lock(self) -> bool:
        """Lock the file that is there; another one where somebody has removed that, or looks at it
        in this moment."""
        with contextlib.suppress(OSError):
            if self._file >= 0 and _locked(self._file):
                return True
            for _ in range(TRIES):
                self._make()
                if _locked(self._file):
                    live_runs(self.state)
                    return True
        return False

    def _make(self) -> None:
        """Make a file and say in it who this is, before it is locked: a locked one is complete."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        process = this_process()
        folder = self.state / FOLDER
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._path = folder / name_of(process)
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        os.write(self._file, msgspec.json.encode(process))


def presence_of(store: Any, environ: Mapping[str, str]) -> Presence | None:
    """This process at a store; `None` where the store ends with it. `NoLocks` where the system has
    none."""
    need_locks()
    if not is_lasting(store) or not store.place:
        return None
    try:
        return Presence(state_of(store.place, environ))
    except OSError:
        return None


def state_of(place: str, environ: Mapping[str, str]) -> Path:
    """The folder in which runs on a store are noted: the one that its file is in, whatever the
    environment says, and for a server the state folder of this host."""
    if place.startswith(SQLITE):
        return Path(place.removeprefix(SQLITE)).resolve().parent
    return state_folder(environ)


def _locked(file: int) -> bool:
    """Whether the file could be locked, and still has its name."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return os.fstat(file).st_nlink > 0


def _unlock(file: int) -> None:
    with contextlib.suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_UN)


def _mind_forks() -> None:
    """Have no process fork within a change, and every child forget what is its parent's."""
    if not _minds_forks and hasattr(os, "register_at_fork"):
        _minds_forks.append(True)
        os.register_at_fork(
            before=_stand_still, after_in_parent=_changing.give_back, after_in_child=_forget_all
        )


def _stand_still() -> None:
    _changing.take(LONGEST_CHANGE_S)


def _forget_all() -> None:
    for each in list(_known):
        each.forget()
    _changing.give_back()

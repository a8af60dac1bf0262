"""Says whether an agent runs beside whoever answers, so that none can say yes to itself: this
process is noted in the folder of a state, by a file that it holds locked, while it has a run open.

The system lets go of the lock however the process ends. Where the folder cannot be written, and on
Windows, nothing is noted and runs go on all the same. The child of a fork has none of its parent's
runs.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import stat
import weakref
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.audit.layout import state_folder
from stanchion.kernel.regex import regex
from stanchion.kernel.shown import StanchionError
from stanchion.kernel.tuples import NamedTuple
from stanchion.locks import Reentrant
from stanchion.stores.protocol import is_lasting

PROC: Final = Path("/proc")
PS: Final = "/bin/ps"

FIRST_SPACE: Final = "pid:[4026531836]"
"""How Linux names the space of process ids that is not inside of another."""

DEEPEST: Final = 10_000
"""How many ancestors are looked at; no real process has so many."""


class HostProcess(msgspec.Struct, frozen=True):
    """One process of a host. What the system does not tell is empty or 0.

    A number of a process, session or terminal means something in its own `space` alone: a container
    has another. `started` is the time since the host's start, so that a number that is used again
    is another process.
    """

    pid: int
    started: str = ""
    tty: int = 0
    session: int = 0
    space: str = ""


class Asker(NamedTuple):
    """A process, and those from which it descends; the nearest first."""

    process: HostProcess
    ancestors: tuple[HostProcess, ...]


class _KnownProcess(NamedTuple):
    process: HostProcess
    parent: int


def this_process() -> HostProcess:
    """The process that asks."""
    pid = os.getpid()
    known = _stat(pid)
    return HostProcess(pid, session=os.getsid(0)) if known is None else known.process


def asker() -> Asker:
    """The process that asks, with its ancestors, as far as they can be told."""
    return Asker(this_process(), ancestors(os.getppid()))


def ancestors(parent: int) -> tuple[HostProcess, ...]:
    """A process and all above it. One that cannot be looked at is known by its number, and ends the
    row."""
    if not (PROC / "self").exists():
        return _by_table(parent, _table())
    found: list[HostProcess] = []
    while parent > 0 and len(found) < DEEPEST:
        known = _stat(parent)
        found.append(HostProcess(parent, space=_space()) if known is None else known.process)
        parent = 0 if known is None else known.parent
    return tuple(found)


def process_at(pid: int) -> HostProcess | None:
    """The process with a number, in this space; `None` where there is none, or it cannot be looked
    at."""
    known = _stat(pid)
    return None if known is None else known.process


def _stat(pid: int) -> _KnownProcess | None:
    try:
        line = (PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        return None
    return read_stat(line, _space())


def read_stat(line: str, space: str) -> _KnownProcess | None:
    """Read what Linux tells of a process in one line. Its second field is a name that may hold
    anything."""
    words = line.rpartition(")")[2].split()
    try:
        pid, parent, session, tty = (
            int(line.split(" ", 1)[0]),
            int(words[1]),
            int(words[3]),
            int(words[4]),
        )
        return _KnownProcess(HostProcess(pid, str(int(words[19])), tty, session, space), parent)
    except (ValueError, IndexError):
        return None


def _space() -> str:
    try:
        return os.readlink(PROC / "self" / "ns" / "pid")
    except OSError:
        return ""


def _by_table(parent: int, parents: Mapping[int, int]) -> tuple[HostProcess, ...]:
    found: list[HostProcess] = []
    while parent > 0 and len(found) < DEEPEST:
        found.append(HostProcess(parent))
        parent = parents.get(parent, 0)
    return tuple(found)


def _table() -> dict[int, int]:
    """The parent of every process, where there is no `/proc`; empty where that cannot be told."""
    import subprocess

    try:
        done = subprocess.run(
            [PS, "-axo", "pid=,ppid="], capture_output=True, text=True, timeout=10, check=True
        )
        return {
            int(pid): int(parent)
            for pid, parent in (line.split() for line in done.stdout.splitlines())
        }
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}


FOLDER: Final = "live"
"""The folder of the notes, in the folder of the state."""

LARGEST: Final = 4096
"""How many bytes a note has at most."""

_NAME: Final = regex(r"([1-9][0-9]{0,18})-([0-9]{0,20})-[0-9a-f]{16}")

Live = HostProcess
"""A process that has a run open."""


def name_of(process: HostProcess) -> str:
    """A name for a process's note that no other note has, and none will have again."""
    return f"{process.pid}-{process.started}-{os.urandom(8).hex()}"


def live_runs(state: Path) -> tuple[Live, ...]:
    """The processes that have a run open on the state in a folder. The notes of others are removed.

    `OSError` where there is a folder that cannot be read. On Windows nothing is known.
    """
    if os.name == "nt":
        return ()
    folder = state / FOLDER
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return ()
    named = [
        (name, match) for name in sorted(names) if (match := _NAME.fullmatch(name)) is not None
    ]
    found = [_noted(folder / name, HostProcess(int(match[1]), match[2])) for name, match in named]
    return tuple(dict.fromkeys([live for live in found if live is not None]))


def beside(live: Iterable[Live], me: Asker) -> Live | None:
    """The first process with an open run that is `me`, from which `me` descends, or whose terminal
    or session `me` shares; `None` where there is none.

    Who leaves all of these behind is not known: this tells an agent's own shell from another
    terminal, and proves nothing. In a space of process ids inside of another one, like a container,
    nothing can be told about processes of other spaces, nor where `/proc` is hidden from `me`
    alone: they count as beside. On a host without `/proc` a terminal is known by its session, and
    one elsewhere can be used.
    """
    return next((each for each in live if _is_beside(each, me)), None)


def _is_beside(each: Live, me: Asker) -> bool:
    mine = me.process
    if each.space and each.space != mine.space:
        # A process can enter a space inside of its own, and none outside of it.
        return mine.space != FIRST_SPACE
    if any(_is_same(each, process) for process in (mine, *me.ancestors)):
        return True
    same_session = each.session != 0 and each.session == mine.session
    same_terminal = each.tty != 0 and each.tty == mine.tty
    return same_session or same_terminal


def _is_same(one: HostProcess, two: HostProcess) -> bool:
    return one.pid == two.pid and (one.started == two.started or not one.started or not two.started)


def _noted(path: Path, named: HostProcess) -> Live | None:
    """The process whose note this is, where it still holds it."""
    import fcntl

    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError:
        return _running(named)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        # Several may look at once, so that nobody takes another who looks for a process with a run.
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        with contextlib.suppress(OSError):
            path.unlink()
        return None
    except BlockingIOError:
        return _read(file, named)
    except OSError:
        return _running(named)
    finally:
        os.close(file)


def _read(file: int, named: HostProcess) -> Live:
    try:
        return typed.decode(os.read(file, LARGEST), HostProcess)
    except (OSError, msgspec.MsgspecError):
        return named


def _running(named: HostProcess) -> Live | None:
    """The process that a note's name means, as the system tells of it, where the note itself cannot
    be read."""
    process = process_at(named.pid)
    return process if process is not None and process.started == named.started else None


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

"""Touches: what a process does to the world, as Python's audit events tell of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

from stanchion.kernel.shown import visible
from stanchion.kernel.tuples import NamedTuple

PROCESS, NETWORK, FILE, DATABASE = "process", "network", "file", "database"

WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
LONGEST: Final = 300
"""How much of a target is kept."""


WORKER, WORKS = "a copy of this process", "multiprocessing.Process"
HERE: Final = -1
"""The folder of a path that is of no other folder."""
_SUBPROCESS: Final = os.path.join(os.path.dirname(os.path.abspath(os.__file__)), "subprocess.py")
"""Starts many programs by `os.posix_spawn`, nearly all of them since Python 3.13, and has told of
each by then."""


class Touch(NamedTuple):
    """Something that is about to be done: of which kind, by which audit event, and to what."""

    kind: str
    event: str
    target: str


def _program(args: Any) -> str:
    """The program that is started. Its arguments stay out: they may be secret, and the place in the
    code says more."""
    executable, words = args[0], args[1]
    if executable is None:
        executable = (
            words if isinstance(words, str | bytes | os.PathLike) else next(iter(words), "")
        )
    return _text(executable)


def _command(args: Any) -> str:
    return _text(args[0]).strip().partition(" ")[0]


def _path(args: Any) -> str:
    return "" if isinstance(args[0], int) else _text(args[0])


def writes(args: Any) -> bool:
    """Whether a file is opened in order to change it."""
    flags = args[2]
    return isinstance(flags, int) and flags & WRITES != 0


def _opened(args: Any) -> str:
    path = args[0]
    if isinstance(path, int) or not writes(args):
        return ""
    name = _text(path)
    return "" if name == os.devnull else name


def _folder(args: Any) -> str:
    """The folder that is made. Many make sure of one that is there already, and change nothing."""
    path, folder = args[0], args[2]
    return "" if folder == HERE and os.path.isdir(path) else _text(path)


def _copy(args: Any) -> str:
    return WORKER


def _address(args: Any) -> str:
    where = args[1]
    if isinstance(where, str | bytes):
        return _text(where)
    if isinstance(where, tuple) and len(where) >= 2 and isinstance(where[0], str | bytes):
        return f"{_text(where[0])}:{where[1]}"
    return ""


def _database(args: Any) -> str:
    name = _text(args[0])
    return "" if name == ":memory:" else name


def _text(value: Any) -> str:
    try:
        said = os.fsdecode(value)
    except TypeError:
        return f"$type {type(value).__name__}"
    return visible(said[:LONGEST])


EVENTS: Final[dict[str, tuple[str, Callable[[Any], str]]]] = {
    "subprocess.Popen": (PROCESS, _program),
    "os.posix_spawn": (PROCESS, _path),
    "os.spawn": (PROCESS, lambda args: _text(args[1])),
    "os.exec": (PROCESS, _path),
    "os.fork": (PROCESS, _copy),
    "os.forkpty": (PROCESS, _copy),
    "os.system": (PROCESS, _command),
    "os.startfile": (PROCESS, _path),
    "pty.spawn": (PROCESS, lambda args: _text(next(iter(args[0]), ""))),
    "socket.connect": (NETWORK, _address),
    "socket.sendto": (NETWORK, _address),
    "socket.sendmsg": (NETWORK, _address),
    "open": (FILE, _opened),
    "os.mkdir": (FILE, _folder),
    "os.remove": (FILE, _path),
    "os.rename": (FILE, _path),
    "os.rmdir": (FILE, _path),
    "os.truncate": (FILE, _path),
    "os.link": (FILE, _path),
    "os.symlink": (FILE, lambda args: _text(args[1])),
    "os.chmod": (FILE, _path),
    "os.chown": (FILE, _path),
    "os.chflags": (FILE, _path),
    "os.utime": (FILE, _path),
    "os.setxattr": (FILE, _path),
    "os.removexattr": (FILE, _path),
    "sqlite3.connect": (DATABASE, _database),
}
"""The audit events that change something outside the process, and how each names what it changes;
an empty name means that it changes nothing. Opening a file to read it and looking a host up are not
among them."""


def touch_of(event: str, args: Any, file: str = "") -> Touch | None:
    """What an audit event that code of a file has raised does to the world; `None` where that is
    nothing."""
    known = EVENTS.get(event)
    if known is None or (event == "os.posix_spawn" and file == _SUBPROCESS):
        return None
    if event == "open" and isinstance(args[0], int) and _hands_work_over(file):
        return Touch(PROCESS, WORKS, WORKER)
    kind, named = known
    target = named(args)
    return Touch(kind, event, target) if target else None


def _hands_work_over(file: str) -> bool:
    """Whether this is the code by which `multiprocessing` hands a process its work through a pipe.
    Python tells nobody that the process is started, and without its work it ends."""
    folder, name = os.path.split(file)
    return name.startswith("popen_") and os.path.basename(folder) == "multiprocessing"

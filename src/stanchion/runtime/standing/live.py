"""Who has a run open on a state of this host, and whether somebody sits beside them."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from stanchion import typed
from stanchion.kernel.regex import regex
from stanchion.runtime.standing.processes import FIRST_SPACE, Asker, Process, process_at

FOLDER: Final = "live"
"""The folder of the notes, in the folder of the state."""

LARGEST: Final = 4096
"""How many bytes a note has at most."""

_NAME: Final = regex(r"([1-9][0-9]{0,18})-([0-9]{0,20})-[0-9a-f]{16}")

Live = Process
"""A process that has a run open."""


def name_of(process: Process) -> str:
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
    found = [_noted(folder / name, Process(int(match[1]), match[2])) for name, match in named]
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


def _is_same(one: Process, two: Process) -> bool:
    return one.pid == two.pid and (one.started == two.started or not one.started or not two.started)


def _noted(path: Path, named: Process) -> Live | None:
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


def _read(file: int, named: Process) -> Live:
    try:
        return typed.decode(os.read(file, LARGEST), Process)
    except (OSError, msgspec.MsgspecError):
        return named


def _running(named: Process) -> Live | None:
    """The process that a note's name means, as the system tells of it, where the note itself cannot
    be read."""
    process = process_at(named.pid)
    return process if process is not None and process.started == named.started else None

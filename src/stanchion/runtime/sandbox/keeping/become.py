"""How a process becomes the command: bounded, without new privileges, with nothing open but its
pipes."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Iterator
from typing import Any

from stanchion.runtime.sandbox.keeping.calls import PR_SET_NO_NEW_PRIVS, close_on_exec, libc, prctl
from stanchion.runtime.sandbox.keeping.ground import (
    NO_PROGRAM,
    NO_WALL,
    Ground,
    WalledCommand,
    heard,
    tell,
)

USUAL = (
    signal.SIGPIPE,
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGCHLD,
    signal.SIGQUIT,
    signal.SIGXFSZ,
)
"""Signals that mean to a command what they mean to any program."""
MISSING = "no such program"


def bounded(ground: Ground) -> None:
    """Bound this process and whatever it starts, for good; none of them gains rights."""
    for name, most in ground.limits.items():
        resource.setrlimit(getattr(resource, name), (most, most))
    prctl(PR_SET_NO_NEW_PRIVS, 1)


def cores(ground: Ground) -> None:
    """Use no more cores than there may be: those from where the kernel has put this process, so
    that not all commands share the first."""
    usable = sorted(os.sched_getaffinity(0))
    here = libc.sched_getcpu()
    first = usable.index(here) if here in usable else 0
    os.sched_setaffinity(0, (usable[first:] + usable[:first])[: ground.cores])


def spawned(ground: Ground, command: WalledCommand) -> tuple[int, str]:
    """Start the command from a process that is bounded already; gives it, or 0 and why it cannot be
    started. Nothing of this process is copied for it."""
    cores(ground)
    pipes = [(os.POSIX_SPAWN_DUP2, command.out, 1), (os.POSIX_SPAWN_DUP2, command.err, 2)]
    actions = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0), *pipes]
    found = started(command.argv, ground.env, file_actions=actions, setsid=True)
    for one in (command.out, command.err):
        os.close(one)
    return found


def started(argv: list[bytes], env: dict[str, str], **how: Any) -> tuple[int, str]:
    """Start a program with nothing open but standard input, output and error; gives it, or 0 and
    why it cannot be started."""
    close_on_exec()
    why = MISSING
    for path in _candidates(argv, env):
        try:
            return os.posix_spawn(path, argv, env, setsigmask=(), setsigdef=USUAL, **how), ""
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            why = error.strerror or why
    return 0, why


def forked(
    ground: Ground, command: WalledCommand, fence: Callable[[], list[str]]
) -> tuple[int, dict[str, object]]:
    """Start the command in a process that builds the last walls round itself alone; gives it, and
    what it said before it was the command. `fence` builds them, and names all that stand."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            _become(ground, command, fence, write)
        except BaseException as error:  # noqa: BLE001 - whatever it is, this process must not go on as another
            tell(write, error=NO_WALL, why=str(error))
        os._exit(1)
    for one in (write, command.out, command.err):
        os.close(one)
    return child, heard(read)


def wear(command: WalledCommand) -> None:
    """Have the pipes of a command as standard output and error, nothing as input, and nothing
    else."""
    nothing = os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
    for given, wanted in ((nothing, 0), (command.out, 1), (command.err, 2)):
        os.dup2(given, wanted)
    close_on_exec()


def _become(
    ground: Ground, command: WalledCommand, fence: Callable[[], list[str]], said: int
) -> None:
    os.setsid()
    cores(ground)
    bounded(ground)
    for one in USUAL:
        signal.signal(one, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    wear(command)
    walls = fence()
    ground.need(walls)
    # The pipe closes by itself when this process is the command.
    tell(said, walls=walls)
    why = MISSING
    for path in _candidates(command.argv, ground.env):
        try:
            os.execve(path, command.argv, ground.env)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            why = error.strerror or why
    tell(said, error=NO_PROGRAM, why=why)
    os._exit(127)


def _candidates(argv: list[bytes], env: dict[str, str]) -> Iterator[bytes]:
    """Where the program may be."""
    name = argv[0]
    for folder in [b""] if b"/" in name else os.fsencode(env["PATH"]).split(b":"):
        yield os.path.join(folder, name)

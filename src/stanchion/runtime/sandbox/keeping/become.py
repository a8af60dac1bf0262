"""How a process becomes the command: bounded, without new privileges, with nothing open but its pipes."""

from __future__ import annotations

import os
import resource
import signal
import socket
from collections.abc import Callable

from stanchion.runtime.sandbox.keeping.calls import PR_SET_NO_NEW_PRIVS, close_on_exec, prctl
from stanchion.runtime.sandbox.keeping.ground import NO_PROGRAM, NO_WALL, Command, Ground, awaited, command_of, tell


def begun(ground: Ground, line: socket.socket, fence: Callable[[], list[str]]) -> tuple[int, int]:
    """Start a process that is to become the command that comes over a line; gives it, and where it says how that goes.
    `fence` builds the last walls and names all that stand. Everything is done before the command is known."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            _become(ground, line, fence, write)
        except BaseException as error:  # noqa: BLE001 - whatever it is, this process must not go on as another
            tell(write, error=NO_WALL, why=str(error))
        os._exit(1)
    os.close(write)
    line.close()
    return child, read


def wear(command: Command) -> None:
    """Have the pipes of a command as standard output and error, nothing as input, and nothing else."""
    nothing = os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
    for given, wanted in ((nothing, 0), (command.out, 1), (command.err, 2)):
        os.dup2(given, wanted)
    close_on_exec()


def cores(ground: Ground) -> None:
    """Use no more cores than there may be."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: ground.cores])


def _become(ground: Ground, line: socket.socket, fence: Callable[[], list[str]], said: int) -> None:
    os.setsid()
    cores(ground)
    for name, most in ground.limits.items():
        resource.setrlimit(getattr(resource, name), (most, most))
    prctl(PR_SET_NO_NEW_PRIVS, 1)
    for one in (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(one, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    walls = fence()
    ground.need(walls)
    # The pipe closes by itself when this process is the command.
    tell(said, walls=walls)
    command = command_of(awaited(line, 3))
    wear(command)
    tell(said, error=NO_PROGRAM, why=_tried(command.argv, ground.env))
    os._exit(127)


def _tried(argv: list[str], env: dict[str, str]) -> str:
    """Be the program; says why that cannot be."""
    why = "no such program"
    for folder in [""] if "/" in argv[0] else env["PATH"].split(":"):
        try:
            os.execve(os.path.join(folder, argv[0]), argv, env)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            why = error.strerror or why
    return why

"""Landlock alone, for where there are no namespaces to be had: a command gives up what it may not
do, and a filter on calls of the kernel holds what Landlock does not know."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket

from stanchion.runtime.sandbox.keeping.become import forked
from stanchion.runtime.sandbox.keeping.calls import (
    DEVICES,
    EVERY,
    HOLDS_FILES_SINCE,
    PR_SET_CHILD_SUBREAPER,
    PR_SET_PDEATHSIG,
    READS,
    SCOPES_SINCE,
    fence,
    prctl,
)
from stanchion.runtime.sandbox.keeping.ground import CommandEnded, Ground, awaited, tell_end
from stanchion.runtime.sandbox.keeping.seccomp import filter_alone, filtered

HELD = ["network", "ipc", "leftovers", "privileges", "limits", "children", "landlock", "calls"]


def stand(ground: Ground, write: bool, line: socket.socket) -> None:
    """Wait for one command, run it to its end, and tell it. This process stays outside of the
    walls: a command that could signal it could have its own processes outlive it."""
    signal.signal(signal.SIGTERM, _end)
    prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    command = awaited(line)
    signal.pthread_sigmask(
        signal.SIG_BLOCK, [signal.SIGTERM]
    )  # until it is known what there is to end
    child, folder = 0, f"{ground.base}/{os.getpid()}"
    os.mkdir(folder, 0o700)
    try:
        mine = _with_room(ground, folder)
        child, told = forked(mine, command, lambda: _fenced(mine, write, folder))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        found = _swept(child)
        shutil.rmtree(folder, ignore_errors=True)
    tell_end(command, rc=os.waitstatus_to_exitcode(found), **told)


def _end(*_: object) -> None:
    raise CommandEnded


def _with_room(ground: Ground, folder: str) -> Ground:
    """With a folder for what is temporary, and room for as many processes as there are already:
    they are counted by user."""
    limits = {**ground.limits, "RLIMIT_NPROC": _tasks(ground.user) + ground.children + 2}
    env = {name: folder if value == "/tmp" else value for name, value in ground.env.items()}
    return ground._replace(limits=limits, env=env)


def _tasks(user: int) -> int:
    count = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{name}").st_uid == user:
                    count += len(os.listdir(f"/proc/{name}/task"))
    return count


def _fenced(ground: Ground, write: bool, folder: str) -> list[str]:
    shown = [(path, READS) for path in ground.shown if os.path.exists(path)]
    devices = [(f"/dev/{name}", READS if name.endswith("random") else EVERY) for name in DEVICES]
    os.chdir(ground.root)
    abi = fence([*shown, *devices, (ground.root, EVERY if write else READS), (folder, EVERY)])
    if not abi:
        raise OSError("the kernel has no Landlock")
    filtered(filter_alone(write))
    files = ["files"] if abi >= HOLDS_FILES_SINCE else []
    return [*HELD, *files, *(["processes"] if abi >= SCOPES_SINCE else [])]


def _swept(child: int) -> int:
    """End everything of the command, and give how it ended itself: it cannot leave its group, and a
    signal reaches all of a group at once. The command is waited for last, so that its number means
    nobody else meanwhile."""
    if not child:
        return 0
    for end in (os.kill, os.killpg):
        with contextlib.suppress(ProcessLookupError):
            end(child, signal.SIGKILL)
    _, found = os.waitpid(child, 0)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    return found

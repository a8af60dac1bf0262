"""Walls of bubblewrap: the same namespaces, made by the program `bwrap`. Where a system lets only
chosen programs make them, it is one of those."""

from __future__ import annotations

import errno
import json
import os
import resource
import select
import signal
import socket
from collections.abc import Iterable

from stanchion.runtime.sandbox.keeping.become import cores, wear
from stanchion.runtime.sandbox.keeping.calls import PR_SET_PDEATHSIG, prctl
from stanchion.runtime.sandbox.keeping.ground import (
    NO_PROGRAM,
    NO_WALL,
    Ground,
    WalledCommand,
    awaited,
    tell,
    tell_end,
)
from stanchion.runtime.sandbox.keeping.namespaces import (
    FOLDER,
    FRESH,
    HELD,
    HIDDEN,
    INNER,
    LINK,
    READ,
    TEXT,
    WRITE,
    Placed,
    readable,
)
from stanchion.runtime.sandbox.keeping.seccomp import among_walls

CANNOT = "it cannot build its walls here"


def stand(ground: Ground, write: bool, line: socket.socket) -> None:
    """Get ready, run one command to its end, and tell it."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    steps = among_walls()
    walls = [*HELD, *(["calls"] if steps else [])]
    ground.need(walls)
    if not ground.bwrap:
        raise OSError("there is no `bwrap`: install the package `bubblewrap`")
    command = awaited(line)
    told, say = os.pipe()
    wait, go = os.pipe()
    child = os.fork()
    if not child:
        try:
            _become(ground, _walls(ground, write), steps, command, (say, wait))
        except OSError as error:
            long = error.errno == errno.E2BIG
            tell(say, error=NO_PROGRAM if long else NO_WALL, why=error.strerror if long else CANNOT)
        os._exit(1)
    for one in (say, wait, command.out, command.err):
        os.close(one)
    came = _followed(ground, told, go)
    os.waitpid(child, 0)
    tell_end(command, walls=walls, **came)


def _followed(ground: Ground, told: int, go: int) -> dict[str, object]:
    """Bound what `bwrap` has built its walls round, let it go, and hear how it ends."""
    lines = os.fdopen(told, "rb")
    first: dict[str, object] = json.loads(lines.readline() or "{}")
    inner = first.get("child-pid")
    if not isinstance(inner, int):
        return first or {"error": NO_WALL, "why": CANNOT}
    for name, most in ground.limits.items():
        resource.prlimit(inner, getattr(resource, name), (most, most))
    everything = os.pidfd_open(inner)
    os.write(go, b"\n")
    codes = [one["exit-code"] for one in map(json.loads, lines) if "exit-code" in one]
    # It tells the end before all that the command has started is gone; process 1 ends after the
    # last of them.
    select.select([everything], [], [])
    return {"rc": codes[0]} if codes else {"error": NO_PROGRAM, "why": "no such program"}


def _become(
    ground: Ground, walls: list[str], steps: bytes, command: WalledCommand, pipes: tuple[int, int]
) -> None:
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setsid()
    cores(ground)
    wear(command)
    for one in pipes:
        os.set_inheritable(one, True)
    say, wait = map(str, pipes)
    how = [
        ground.bwrap,
        *walls,
        *filter_words(steps),
        "--json-status-fd",
        say,
        "--block-fd",
        wait,
        "--",
    ]
    os.execve(ground.bwrap, [*map(os.fsencode, how), *command.argv], ground.env)


def filter_words(steps: bytes) -> list[str]:
    """The words that tell `bwrap` to give up calls of the kernel. It reads them from a file that
    nobody else has."""
    if not steps:
        return []
    file = os.memfd_create("stanchion-filter", 0)
    os.write(file, steps)
    os.lseek(file, 0, os.SEEK_SET)
    return ["--seccomp", str(file)]


APART = [
    "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--cap-drop", "ALL",
    "--uid", str(INNER), "--gid", str(INNER), "--hostname", "stanchion",
]  # fmt: skip


def words_of(places: Iterable[Placed]) -> list[str]:
    """The words that tell `bwrap` what stands where; its own `/dev` has what one needs."""
    words: list[str] = []
    for how, what, inside in places:
        if how == TEXT:
            file = os.memfd_create("stanchion-text", 0)
            os.write(file, what.encode())
            os.lseek(file, 0, os.SEEK_SET)
            words += ["--ro-bind-data", str(file), inside]
        elif how == HIDDEN:
            nothing = ["--tmpfs", inside, "--remount-ro", inside]
            words += nothing if os.path.isdir(what) else ["--ro-bind", "/dev/null", inside]
        else:
            words += [*WORDS[how], *([] if how in (FRESH, FOLDER) else [what]), inside]
    return words


WORDS = {
    READ: ["--ro-bind"],
    WRITE: ["--bind"],
    LINK: ["--symlink"],
    FRESH: ["--tmpfs"],
    FOLDER: ["--dir"],
}


def _walls(ground: Ground, write: bool) -> list[str]:
    """The words that tell `bwrap` what to show. The order counts: later mounts lie over earlier
    ones."""
    words = [*APART, "--new-session", *words_of(readable(ground.shown))]
    words += ["--dev", "/dev", "--remount-ro", "/dev", "--proc", "/proc", "--remount-ro", "/proc"]
    words += ["--size", str(ground.tmp_bytes), "--perms", "1777", "--tmpfs", "/tmp"]
    words += ["--bind" if write else "--ro-bind", ground.root, ground.root, "--remount-ro", "/"]
    return [*words, "--chdir", ground.root]

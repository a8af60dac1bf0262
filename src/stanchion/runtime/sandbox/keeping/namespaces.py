"""Walls of namespaces: a root, processes, a network and users of a command's own, by the kernel's
own calls."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from collections.abc import Callable, Iterable
from typing import Any

from stanchion.runtime.sandbox.keeping.become import bounded, spawned
from stanchion.runtime.sandbox.keeping.calls import (
    DEVICES,
    EVERY,
    MACHINE,
    MNT_DETACH,
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_RDONLY,
    MS_REC,
    PR_SET_PDEATHSIG,
    READS,
    SYS_CLONE,
    SYS_PIVOT_ROOT,
    checked,
    fence,
    harden,
    libc,
    mount,
    prctl,
    written,
)
from stanchion.runtime.sandbox.keeping.ground import NO_PROGRAM, Ground, awaited, tell_end
from stanchion.runtime.sandbox.keeping.seccomp import among_walls, filtered

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS = 0x20000, 0x2000000, 0x4000000
CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = (
    0x8000000,
    0x10000000,
    0x20000000,
    0x40000000,
)
ALL = (
    CLONE_NEWUSER
    | CLONE_NEWNS
    | CLONE_NEWPID
    | CLONE_NEWNET
    | CLONE_NEWIPC
    | CLONE_NEWUTS
    | CLONE_NEWCGROUP
)
INNER = 1000
"""Who a command is, inside."""
HELD = [
    "files",
    "unseen",
    "network",
    "ipc",
    "processes",
    "leftovers",
    "user",
    "privileges",
    "limits",
    "tmp",
    "children",
]


def forked_apart() -> int:
    """A fork, into new namespaces at once: one process less than to fork, enter them and fork
    again."""
    pid = libc.syscall(SYS_CLONE[MACHINE], ALL | signal.SIGCHLD, 0, 0, 0, 0)
    return checked(pid, "unshare")


def mold(ground: Ground) -> None:
    """Have this process live in a root in which there is nothing but what is shown. Whoever is
    forked from it has the same, and builds only what is not to be shared."""
    checked(libc.unshare(CLONE_NEWUSER | CLONE_NEWNS), "unshare")
    mapped(ground.user, ground.group)
    _build(ground)


def stand(ground: Ground, write: bool, line: socket.socket) -> None:
    """Get ready, run one command to its end, and tell it: this is process 1 of its namespaces, and
    when it ends, all of them end. What binds the command binds this process, too: then nothing is
    left to do when the command is known."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    mapped(INNER, INNER)
    with contextlib.suppress(OSError):
        written("/proc/sys/user/max_user_namespaces", "0")
    _furnish(ground, write)
    libc.sethostname(b"stanchion", 9)
    bounded(ground)
    walls = _fenced(ground, write)
    ground.need(walls)
    command = awaited(line)
    child, why = spawned(ground, command)
    if child:
        tell_end(command, rc=os.waitstatus_to_exitcode(ended(child)), walls=walls)
    else:
        tell_end(command, error=NO_PROGRAM, why=why)


def ended(child: int) -> int:
    """How the command ended; nothing that it has started is left then."""
    found = -1
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, how = os.waitpid(-1, 0)
            if pid == child:
                found = how
                with contextlib.suppress(ProcessLookupError):
                    os.kill(-1, signal.SIGKILL)  # all that process 1 can see, but for itself
    return found


def mapped(user: int, group: int) -> None:
    """Be somebody inside: whoever is this outside."""
    written("/proc/self/setgroups", "deny")
    written("/proc/self/uid_map", f"{INNER} {user} 1")
    written("/proc/self/gid_map", f"{INNER} {group} 1")


def _fenced(ground: Ground, write: bool) -> list[str]:
    """Landlock as the second wall round files, and a filter on calls of the kernel round
    everything."""
    writable = ["/tmp", "/dev/null", "/dev/zero", "/dev/full", *([ground.root] if write else [])]
    abi = fence([("/", READS), *((path, EVERY) for path in writable)])
    steps = among_walls()
    if steps:
        filtered(steps)
    return [*HELD, *(["landlock"] if abi else []), *(["calls"] if steps else [])]


def _build(ground: Ground) -> None:
    lay(
        ground.base,
        [
            *readable(ground.shown),
            *((DEVICE, f"/dev/{name}", f"/dev/{name}") for name in DEVICES),
            (LINK, "/proc/self/fd", "/dev/fd"),
            (FOLDER, "", "/tmp"),
            (WRITE, ground.root, ground.root),
        ],
    )
    enter(ground.base)


Placed = tuple[str, str, str]
"""How something stands inside, what it is, and where it stands."""
READ, WRITE, DEVICE, LINK, TEXT, FRESH, FOLDER, HIDDEN = (
    "read", "write", "device", "link", "text", "fresh", "folder", "hidden",
)  # fmt: skip
"""Mounted to be read, to be written, or as a device; a link; a file with this text; a file system
of its own with these options; a folder; or nothing, in the place of what is there."""


def readable(paths: Iterable[str]) -> list[Placed]:
    """What is there of some paths, to be read; links stay links."""
    return [
        (LINK, os.readlink(path), path) if os.path.islink(path) else (READ, path, path)
        for path in paths
        if os.path.lexists(path)
    ]


def lay(base: str, places: Iterable[Placed]) -> None:
    """Begin a new root at a folder, and put into it what is named; later ones lie over earlier
    ones."""
    # By handles: a path may lie below what was mounted since.
    held: list[tuple[str, Any, str]] = [
        (how, os.open(what, os.O_PATH | os.O_CLOEXEC) if how in MOUNTED else what, base + inside)
        for how, what, inside in places
    ]
    mount("", "/", "", MS_REC | MS_PRIVATE)
    mount("tmpfs", base, "tmpfs", MS_NOSUID | MS_NODEV, "size=4m,mode=755")
    for how, what, inside in held:
        PUT[how](what, inside)
        if how in MOUNTED:
            harden(inside, writes=how != READ, device=how == DEVICE)
            os.close(what)
    os.makedirs(f"{base}/proc", exist_ok=True)
    mount("/proc", f"{base}/proc", "", MS_BIND | MS_REC)


def enter(base: str) -> None:
    """Have the new root be the only one."""
    os.chdir(base)
    checked(libc.syscall(SYS_PIVOT_ROOT[MACHINE], b".", b"."), "pivot_root")
    checked(libc.umount2(b".", MNT_DETACH), "umount")
    harden("/", writes=False, below=False)
    os.chdir("/")


def _mounted(held: int, inside: str) -> None:
    source = f"/proc/self/fd/{held}"
    if os.path.isdir(source):
        os.makedirs(inside, 0o755, exist_ok=True)
    elif not os.path.lexists(inside):
        _written("", inside)
    mount(source, inside, "", MS_BIND | MS_REC)


def _written(text: str, inside: str) -> None:
    os.makedirs(os.path.dirname(inside), 0o755, exist_ok=True)
    file = os.open(inside, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644)
    os.write(file, text.encode())
    os.close(file)


def _linked(target: str, inside: str) -> None:
    os.makedirs(os.path.dirname(inside), 0o755, exist_ok=True)
    os.symlink(target, inside)


def _fresh(options: str, inside: str) -> None:
    os.makedirs(inside, 0o755, exist_ok=True)
    kind, _, data = options.partition(" ")
    mount(kind, inside, kind, MS_NOSUID | (MS_NODEV if kind == "tmpfs" else 0), data)


def _hidden(_: str, inside: str) -> None:
    if os.path.isdir(inside):
        mount("tmpfs", inside, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "size=4k,mode=555")
    elif os.path.lexists(inside):
        mount("/dev/null", inside, "", MS_BIND)


MOUNTED = (READ, WRITE, DEVICE)
PUT: dict[str, Callable[[Any, str], None]] = {
    **dict.fromkeys(MOUNTED, _mounted),
    LINK: _linked,
    TEXT: _written,
    FRESH: _fresh,
    FOLDER: lambda _, inside: os.makedirs(inside, exist_ok=True),
    HIDDEN: _hidden,
}


def _furnish(ground: Ground, write: bool) -> None:
    """Give a command what is its own: `/tmp`, `/proc`, and its folder, which is read-only unless it
    may write."""
    below = [
        path
        for path in (*ground.shown, ground.root)
        if path.startswith("/tmp/") and os.path.isdir(path)
    ]
    held = [os.open(path, os.O_PATH | os.O_CLOEXEC) for path in below]
    mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, f"size={ground.tmp_bytes},mode=1777")
    for path, hold in zip(below, held, strict=True):
        os.makedirs(path, 0o755, exist_ok=True)
        mount(f"/proc/self/fd/{hold}", path, "", MS_BIND | MS_REC)
        os.close(hold)
    if not write:
        harden(ground.root, writes=False)
    own_processes()
    os.chdir(ground.root)


OF_OTHERS = ("/proc/keys", "/proc/key-users", "/proc/locks")
"""What tells of other processes there, whosoever `/proc` it is."""


def own_processes() -> bool:
    """Have `/proc` tell of the processes of these namespaces alone; false where it tells
    nothing."""
    try:
        mount("proc", "/proc", "proc", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)
    except (
        OSError
    ):  # in some containers nobody may: then nothing is there, and not the host's either
        mount(
            "tmpfs",
            "/proc",
            "tmpfs",
            MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
            "size=4k,mode=555",
        )
        return False
    for path in filter(os.path.exists, OF_OTHERS):
        mount("/dev/null", path, "", MS_BIND)
    return True

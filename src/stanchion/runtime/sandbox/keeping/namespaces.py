"""Walls of namespaces: a root, processes, a network and users of a command's own, by the kernel's own calls."""

from __future__ import annotations

import contextlib
import os
import signal

from stanchion.runtime.sandbox.keeping.become import begun
from stanchion.runtime.sandbox.keeping.calls import (
    MACHINE,
    MNT_DETACH,
    MS_BIND,
    MS_NODEV,
    MS_NOEXEC,
    MS_NOSUID,
    MS_PRIVATE,
    MS_REC,
    PR_SET_PDEATHSIG,
    SYS_PIVOT_ROOT,
    checked,
    harden,
    libc,
    mount,
    prctl,
    written,
)
from stanchion.runtime.sandbox.keeping.ground import Ground, Lines, awaited, heard, tell
from stanchion.runtime.sandbox.keeping.landlock import DEVICES, EVERY, READS, fence

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS = 0x20000, 0x2000000, 0x4000000
CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x8000000, 0x10000000, 0x20000000, 0x40000000
ALL = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP
INNER = 1000
"""Who a command is, inside."""
HELD = ["files", "unseen", "network", "ipc", "processes", "leftovers", "user", "privileges", "limits", "tmp"]


def stand(ground: Ground, write: bool, lines: Lines) -> None:
    """Get ready, run one command to its end, and tell it: this is process 1 of its namespaces, and when it ends, all of
    them end."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    written("/proc/self/setgroups", "deny")
    written("/proc/self/uid_map", f"{INNER} {ground.user} 1")
    written("/proc/self/gid_map", f"{INNER} {ground.group} 1")
    with contextlib.suppress(OSError):
        written("/proc/sys/user/max_user_namespaces", "0")
    _build(ground, write)
    libc.sethostname(b"stanchion", 9)
    child, said = begun(ground, lines.command, lambda: _fenced(ground, write))
    status = awaited(lines.status, 1)[0]
    told = heard(said)
    ended, found = os.waitpid(-1, 0)
    while ended != child:
        ended, found = os.waitpid(-1, 0)
    tell(status, rc=os.waitstatus_to_exitcode(found), **told)


def _fenced(ground: Ground, write: bool) -> list[str]:
    """Landlock as the second wall."""
    writable = ["/tmp", "/dev/null", "/dev/zero", "/dev/full", *([ground.root] if write else [])]
    abi = fence([("/", READS), *((path, EVERY) for path in writable)])
    return [*HELD, *(["landlock"] if abi else []), *(["children"] if ground.user else [])]


def _build(ground: Ground, write: bool) -> None:
    """Make a root in which there is nothing but what is shown, and go there."""
    base, root = ground.base, ground.root
    mount("", "/", "", MS_REC | MS_PRIVATE)
    hold = os.open(root, os.O_PATH | os.O_CLOEXEC)
    mount("tmpfs", base, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
    for path in ground.shown:
        if os.path.islink(path):
            os.makedirs(os.path.dirname(base + path), 0o755, exist_ok=True)
            os.symlink(os.readlink(path), base + path)
        elif os.path.exists(path):
            _show(path, base + path)
    for device in DEVICES:
        _show(f"/dev/{device}", f"{base}/dev/{device}", device=True)
    os.symlink("/proc/self/fd", f"{base}/dev/fd")
    os.makedirs(f"{base}/tmp", exist_ok=True)
    mount("tmpfs", f"{base}/tmp", "tmpfs", MS_NOSUID | MS_NODEV, f"size={ground.tmp_bytes},mode=1777")
    os.makedirs(f"{base}/proc", exist_ok=True)
    with contextlib.suppress(OSError):  # in some containers nobody may: then there is none
        mount("proc", f"{base}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    # By its handle: the path may lie below what was mounted since.
    os.makedirs(base + root, 0o755, exist_ok=True)
    mount(f"/proc/self/fd/{hold}", base + root, "", MS_BIND | MS_REC)
    harden(base + root, writes=write)
    os.close(hold)
    os.chdir(base)
    checked(libc.syscall(SYS_PIVOT_ROOT[MACHINE], b".", b"."), "pivot_root")
    checked(libc.umount2(b".", MNT_DETACH), "umount")
    harden("/", writes=False, below=False)
    os.chdir(root)


def _show(source: str, inside: str, device: bool = False) -> None:
    """Show a file or a folder inside, to be read; a device may be written to."""
    folder = os.path.isdir(source)
    os.makedirs(inside if folder else os.path.dirname(inside), 0o755, exist_ok=True)
    if not folder:
        os.close(os.open(inside, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    mount(source, inside, "", MS_BIND | MS_REC)
    harden(inside, writes=device, device=device)

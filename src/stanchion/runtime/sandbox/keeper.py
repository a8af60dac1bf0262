"""The keeper: a small process that starts commands behind walls.

It is started once, as a script that imports nothing of Stanchion, and has one thread: so it can fork whenever it is
asked to, which a process with threads cannot. For each command it makes namespaces in which there is nothing but a few
folders, and runs the command there.

    keeper      waits for requests; when its owner is gone, everything ends
      └ init    process 1 of its namespaces: builds the walls, waits for the command; when it ends, all of them end
          └ the command
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS = 0x20000, 0x2000000, 0x4000000
CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x8000000, 0x10000000, 0x20000000, 0x40000000
WALLS = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP

MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
MNT_DETACH, AT_RECURSIVE = 2, 0x8000
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV = 1, 2, 4
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS, PR_SET_DUMPABLE = 1, 38, 4
SYS_MOUNT_SETATTR, SYS_LANDLOCK_CREATE, SYS_LANDLOCK_ADD, SYS_LANDLOCK_RESTRICT = 442, 444, 445, 446
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
SYS_CLONE = {"x86_64": 56, "aarch64": 220}
LANDLOCK_RULE_PATH_BENEATH, LANDLOCK_VERSION = 1, 1
READS = 1 | 4 | 8
"""Landlock: execute, read a file, read a folder."""
FILE = 1 | 2 | 4 | 1 << 14 | 1 << 15
"""Landlock: what a rule for a file may name."""
BY_ABI = (0, 13, 14, 15, 15, 16)
"""How many rights Landlock knows, by its version."""

INNER = 1000
"""Who a command is, inside."""
DEVICES = ("null", "zero", "full", "random", "urandom")
NO_WALL, NO_PROGRAM = "wall", "program"

Asked = dict[str, Any]
"""What a command is, and what it may."""

libc = ctypes.CDLL(None, use_errno=True)


def checked(done: int, what: str) -> int:
    """What a call of the kernel gave; raises `OSError` where it failed."""
    if done < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return done


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """Mount something."""
    given = [one.encode() or None for one in (source, target, kind)]
    checked(libc.mount(*given, ctypes.c_ulong(flags), data.encode() or None), f"mount {target}")


def harden(path: str, writes: bool, below: bool = True, device: bool = False) -> None:
    """Have a mount, with all that is mounted below it, know no devices and no set-user-id; and no writing."""
    attributes = ATTR_NOSUID | (0 if device else ATTR_NODEV) | (0 if writes else ATTR_RDONLY)
    wanted = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)
    done = libc.syscall(
        SYS_MOUNT_SETATTR,
        -100,
        path.encode(),
        AT_RECURSIVE if below else 0,
        ctypes.byref(wanted),
        ctypes.sizeof(wanted),
    )
    checked(done, f"mount_setattr {path}")


def show(source: str, inside: str, device: bool = False) -> None:
    """Show a file or a folder inside, to be read; a device may be written to."""
    folder = os.path.isdir(source)
    os.makedirs(inside if folder else os.path.dirname(inside), 0o755, exist_ok=True)
    if not folder:
        os.close(os.open(inside, os.O_CREAT | os.O_WRONLY, 0o644))
    mount(source, inside, "", MS_BIND | MS_REC)
    harden(inside, writes=device, device=device)


def build(asked: Asked) -> None:
    """Make a root of our own in which there is nothing but what is shown, and go there."""
    base, root = asked["base"], asked["root"]
    mount("", "/", "", MS_REC | MS_PRIVATE)
    hold = os.open(root, os.O_PATH)
    mount("tmpfs", base, "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=755")
    for path in asked["shown"]:
        if os.path.islink(path):
            os.makedirs(os.path.dirname(base + path), 0o755, exist_ok=True)
            os.symlink(os.readlink(path), base + path)
        elif os.path.exists(path):
            show(path, base + path)
    for device in DEVICES:
        show(f"/dev/{device}", f"{base}/dev/{device}", device=True)
    os.symlink("/proc/self/fd", f"{base}/dev/fd")
    os.makedirs(f"{base}/tmp", exist_ok=True)
    mount("tmpfs", f"{base}/tmp", "tmpfs", MS_NOSUID | MS_NODEV, f"size={asked['tmp_bytes']},mode=1777")
    os.makedirs(f"{base}/proc", exist_ok=True)
    with contextlib.suppress(OSError):  # in some containers nobody may: then there is none
        mount("proc", f"{base}/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC)
    # By its handle: the path may lie below what was mounted since.
    os.makedirs(base + root, 0o755, exist_ok=True)
    mount(f"/proc/self/fd/{hold}", base + root, "", MS_BIND | MS_REC)
    harden(base + root, asked["writes"])
    os.close(hold)
    os.chdir(base)
    checked(libc.syscall(SYS_PIVOT_ROOT[os.uname().machine], b".", b"."), "pivot_root")
    checked(libc.umount2(b".", MNT_DETACH), "umount")
    harden("/", writes=False, below=False)
    os.chdir(root)


def fence(asked: Asked) -> int:
    """A second wall round the files, where the kernel has Landlock; gives its version. Whoever builds it has given up
    new privileges before."""
    version: int = libc.syscall(SYS_LANDLOCK_CREATE, None, 0, LANDLOCK_VERSION)
    if version < 1:
        return 0
    every = (1 << BY_ABI[min(version, len(BY_ABI) - 1)]) - 1
    handled = (ctypes.c_uint64 * 1)(every)
    rules = checked(libc.syscall(SYS_LANDLOCK_CREATE, ctypes.byref(handled), 8, 0), "landlock")
    writable = ["/tmp", "/dev/null", "/dev/zero", "/dev/full", *([asked["root"]] if asked["writes"] else [])]
    for path, rights in [("/", READS), *((one, every) for one in writable)]:
        allow(rules, path, rights & every & (every if os.path.isdir(path) else FILE))
    checked(libc.syscall(SYS_LANDLOCK_RESTRICT, rules, 0), "landlock")
    os.close(rules)
    return version


def allow(rules: int, path: str, rights: int) -> None:
    """Add what may be done below a path."""
    folder = os.open(path, os.O_PATH)
    beneath = rights.to_bytes(8, sys.byteorder) + folder.to_bytes(4, sys.byteorder)
    checked(libc.syscall(SYS_LANDLOCK_ADD, rules, LANDLOCK_RULE_PATH_BENEATH, beneath, 0), f"landlock {path}")
    os.close(folder)


def limit(asked: Asked) -> None:
    """Bound what one process can use, and how many there can be."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: asked["cores"]])
    for name, most in asked["limits"].items():
        resource.setrlimit(getattr(resource, name), (most, most))


def need(asked: Asked, wall: str, stands: bool, why: str) -> None:
    """Refuse to go on where a wall is needed that does not stand."""
    if wall in asked["required"] and not stands:
        raise OSError(why)


def written(path: str, text: str) -> None:
    """Write a file of the kernel. Nothing is loaded for it: the library may be out of reach by now."""
    file = os.open(path, os.O_WRONLY)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)


def init(asked: Asked, fds: list[int]) -> None:
    """Process 1: builds the walls, starts the command, and takes everything with it when it ends."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    out, err, status = fds
    user, group = asked["user"], asked["group"]
    need(asked, "children", user != 0, "of the real root the kernel counts no processes: name another `user`")
    written("/proc/self/setgroups", "deny")
    written("/proc/self/uid_map", f"{INNER} {user} 1")
    written("/proc/self/gid_map", f"{INNER} {group} 1")
    with contextlib.suppress(OSError):
        written("/proc/sys/user/max_user_namespaces", "0")
    build(asked)
    libc.sethostname(b"stanchion", 9)
    read, write = os.pipe()
    child = os.fork()
    if not child:
        guarded(command, asked, [out, err, write])
    for one in (write, out, err):
        os.close(one)
    told = {**heard(read), "children": user != 0}
    ended, found = os.waitpid(-1, 0)
    while ended != child:
        ended, found = os.waitpid(-1, 0)
    os.write(status, json.dumps({"rc": os.waitstatus_to_exitcode(found), **told}).encode())
    os._exit(0)


def heard(pipe: int) -> Asked:
    """What a process says before it becomes the command: the last of it, where it fails to."""
    said = b""
    while came := os.read(pipe, 4096):
        said += came
    told: Asked = json.loads(said.splitlines()[-1]) if said else {"error": NO_WALL, "why": "it was killed at once"}
    return told


def command(asked: Asked, fds: list[int]) -> None:
    """Become the command. The pipe on which it is said how that goes closes by itself when it does."""
    out, err, said = fds
    limit(asked)
    checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    version = fence(asked)
    need(asked, "landlock", version > 0, "the kernel has no Landlock")
    os.setsid()
    nothing = os.open("/dev/null", os.O_RDONLY)
    for given, wanted in ((nothing, 0), (out, 1), (err, 2)):
        os.dup2(given, wanted)
    for one in (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.SIG_DFL)
    os.write(said, json.dumps({"landlock": version}).encode() + b"\n")
    argv, env = asked["argv"], asked["env"]
    why = "no such program"
    for folder in [""] if "/" in argv[0] else env["PATH"].split(":"):
        try:
            os.execve(os.path.join(folder, argv[0]), argv, env)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            why = error.strerror or why
    os.write(said, json.dumps({"error": NO_PROGRAM, "why": why}).encode() + b"\n")
    os._exit(127)


def guarded(do: Callable[[Asked, list[int]], None], asked: Asked, fds: list[int]) -> None:
    """Do something in a process of its own, which never comes back; what fails is told."""
    try:
        do(asked, fds)
    except BaseException as error:  # noqa: BLE001 - whatever it is, this process must not go on as the keeper
        refused(fds, str(error))
    os._exit(1)


def keep(owner: socket.socket) -> None:
    """Take requests until the owner is gone: `run ID` with what is asked and three pipes, and `end ID`."""
    running: dict[str, int] = {}
    reaped, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        waiting: list[Any] = [owner, reaped]
        ready, _, _ = select.select(waiting, [], [])
        if reaped in ready:
            os.read(reaped, 4096)
            reap(running)
        if owner in ready:
            said, fds, _, _ = socket.recv_fds(owner, 256, 4)
            if not said:
                break
            verb, name = said.decode().split()
            if verb == "end":
                kill(running.get(name))
            else:
                running[name] = begin(fds, owner)
    for pid in running.values():
        kill(pid)


def begin(fds: list[int], owner: socket.socket) -> int:
    """Start a command; gives the process that all of it hangs on."""
    asked, *pipes = fds
    who = {"user": os.getuid(), "group": os.getgid()}
    # A fork into new namespaces at once: one process less than to fork, enter them and fork again.
    pid = libc.syscall(SYS_CLONE[os.uname().machine], WALLS | signal.SIGCHLD, 0, 0, 0, 0)
    if pid < 0:
        refused(pipes, f"unshare: {os.strerror(ctypes.get_errno())}")
    if not pid:
        owner.close()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        with open(asked, "rb") as file:
            wanted = {**json.loads(file.read()), **who}
        guarded(init, wanted, pipes)
    for one in fds:
        os.close(one)
    return int(pid)


def refused(pipes: list[int], why: str) -> None:
    """Tell that nothing ran, and why."""
    with contextlib.suppress(OSError):
        os.write(pipes[-1], json.dumps({"error": NO_WALL, "why": why}).encode())


def reap(running: dict[str, int]) -> None:
    """Forget what has ended."""
    with contextlib.suppress(ChildProcessError):
        while True:
            ended, _ = os.waitpid(-1, os.WNOHANG)
            if not ended:
                return
            for name in [name for name, pid in running.items() if pid == ended]:
                del running[name]


def kill(pid: object) -> None:
    """End a command with everything that it has started."""
    if isinstance(pid, int) and pid > 0:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def become(user: int) -> None:
    """Be somebody who may do less; for good."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # what the kernel says of this process is its own again


if __name__ == "__main__":
    os.setsid()
    if sys.argv[2]:
        become(int(sys.argv[2]))
    # The kernel could tell of its owner's death, but means the thread that has started it: the line tells, too.
    keep(socket.socket(fileno=int(sys.argv[1])))

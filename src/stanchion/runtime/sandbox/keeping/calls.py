"""Calls of the kernel that Python has no functions for."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import sys

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = (
    1,
    2,
    4,
    8,
    4096,
    16384,
    1 << 18,
)
JOIN_SESSION_KEYRING = 1
PR_CAPBSET_DROP, LAST_CAPABILITY, CAPABILITIES = 24, 63, 0x20080522
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
MNT_DETACH, AT_RECURSIVE, CLOSE_RANGE_CLOEXEC = 2, 0x8000, 4
ATTR_RDONLY, ATTR_NOSUID, ATTR_NODEV = 1, 2, 4
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = (
    1,
    4,
    22,
    36,
    38,
)
SYS_CLOSE_RANGE, SYS_MOUNT_SETATTR = 436, 442
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
SYS_KEYCTL = {"x86_64": 250, "aarch64": 219}
SYS_CLONE = {"x86_64": 56, "aarch64": 220}
MACHINE = os.uname().machine

libc = ctypes.CDLL(None, use_errno=True)


def checked(done: int, what: str) -> int:
    """What a call of the kernel gave; raises `OSError` where it failed."""
    if done < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return done


def prctl(what: int, value: int) -> None:
    """Change something about this process."""
    checked(libc.prctl(what, ctypes.c_ulong(value), 0, 0, 0), f"prctl {what}")


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """Mount something."""
    given = [one.encode() or None for one in (source, target, kind)]
    checked(libc.mount(*given, ctypes.c_ulong(flags), data.encode() or None), f"mount {target}")


def harden(path: str, writes: bool, below: bool = True, device: bool = False) -> None:
    """Have a mount, with all that is mounted below it, know no devices and no set-user-id; and no
    writing."""
    attributes = ATTR_NOSUID | (0 if device else ATTR_NODEV) | (0 if writes else ATTR_RDONLY)
    wanted = (ctypes.c_uint64 * 4)(attributes, 0, 0, 0)
    flags = AT_RECURSIVE if below else 0
    size = ctypes.sizeof(wanted)
    done = libc.syscall(SYS_MOUNT_SETATTR, -100, path.encode(), flags, ctypes.byref(wanted), size)
    checked(done, f"mount_setattr {path}")


def drop_capabilities() -> None:
    """Give up every right of root's, for good; whoever is root keeps what files give their
    owner."""
    for number in range(LAST_CAPABILITY + 1):
        libc.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)
    header = struct.pack("Ii", CAPABILITIES, 0)
    checked(libc.capset(header, bytes(24)), "capset")


def raise_loopback() -> None:
    """Have the loopback of this process's network be up."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", IFF_UP))


def leave_keys() -> None:
    """Have a new keyring for the session instead of the one of whoever has started this process. A
    kernel may have no
    keys: then there is nothing to leave."""
    if MACHINE in SYS_KEYCTL:
        libc.syscall(SYS_KEYCTL[MACHINE], JOIN_SESSION_KEYRING, None)


def close_on_exec() -> None:
    """Have nothing but standard input, output and error outlive an exec. Kernels before 5.11 lack
    the call; everything is opened so that it closes by itself, and this is a second lock."""
    libc.syscall(SYS_CLOSE_RANGE, 3, ctypes.c_uint(0xFFFFFFFF), CLOSE_RANGE_CLOEXEC)


def written(path: str, text: str) -> None:
    """Write a file of the kernel. Nothing is loaded for it: the library may be out of reach by
    now."""
    file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)


SYS_CREATE, SYS_ADD, SYS_RESTRICT = 444, 445, 446
PATH_BENEATH, VERSION = 1, 1
READS = 1 | 4 | 8
"""Execute, read a file, read a folder."""
FILE = 1 | 2 | 4 | 1 << 14 | 1 << 15
"""What a rule for a file may name."""
BY_ABI = (0, 13, 14, 15, 15, 16)
"""How many rights on files Landlock knows, by its version."""
EVERY = (1 << 16) - 1
TCP, TCP_SINCE = 1 | 2, 4
SCOPES, SCOPES_SINCE = 1 | 2, 6
"""Abstract sockets, signals."""
HOLDS_FILES_SINCE = 3
"""Before it, a file could be cut off that may only be read."""

DEVICES = ("null", "zero", "full", "random", "urandom")


def version() -> int:
    """Which Landlock the kernel has; 0 where it has none."""
    found: int = libc.syscall(SYS_CREATE, None, 0, VERSION)
    return max(found, 0)


def fence(rights: list[tuple[str, int]], tcp: int = TCP) -> int:
    """Give up everything but some rights below some paths, and TCP, unless there is none to give
    up; gives Landlock's version, 0 where there is none. Whoever does this has given up new
    privileges before."""
    abi = version()
    if not abi:
        return 0
    every = (1 << BY_ABI[min(abi, len(BY_ABI) - 1)]) - 1
    handled = [every, tcp if abi >= TCP_SINCE else 0, SCOPES if abi >= SCOPES_SINCE else 0]
    size = 24 if abi >= SCOPES_SINCE else 16 if abi >= TCP_SINCE else 8
    rules = checked(libc.syscall(SYS_CREATE, (ctypes.c_uint64 * 3)(*handled), size, 0), "landlock")
    for path, wanted in rights:
        _allow(rules, path, wanted & every)
    checked(libc.syscall(SYS_RESTRICT, rules, 0), "landlock")
    os.close(rules)
    return abi


def _allow(rules: int, path: str, rights: int) -> None:
    beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    wanted = rights if os.path.isdir(path) else rights & FILE
    rule = wanted.to_bytes(8, sys.byteorder) + beneath.to_bytes(4, sys.byteorder)
    checked(libc.syscall(SYS_ADD, rules, PATH_BENEATH, rule, 0), f"landlock {path}")
    os.close(beneath)

"""Landlock: rights on files, TCP, signals and abstract sockets that a process gives up for good,
without asking anybody."""

from __future__ import annotations

import ctypes
import os
import sys

from stanchion.runtime.sandbox.keeping.calls import checked, libc

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


def fence(rights: list[tuple[str, int]]) -> int:
    """Give up everything but some rights below some paths; gives Landlock's version, 0 where there
    is none. Whoever does this has given up new privileges before."""
    abi = version()
    if not abi:
        return 0
    every = (1 << BY_ABI[min(abi, len(BY_ABI) - 1)]) - 1
    handled = [every, TCP if abi >= TCP_SINCE else 0, SCOPES if abi >= SCOPES_SINCE else 0]
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

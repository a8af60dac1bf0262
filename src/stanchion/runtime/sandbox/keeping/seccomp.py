"""A filter on calls of the kernel: what Landlock alone leaves open is refused before the kernel looks at it."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterable

from stanchion.runtime.sandbox.keeping.calls import MACHINE, PR_SET_SECCOMP, checked, libc

MODE_FILTER = 2
ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32 = 0x40000000
LOAD, EQUAL, ABOVE, ANY_BIT, ANSWER = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, MACHINE_AT, FIRST, SECOND = 0, 4, 16, 24
"""Where the kernel puts the number of a call, the machine, and the arguments."""
ALLOW, KILL, EPERM, ENOSYS = 0x7FFF0000, 0x80000000, 0x50001, 0x50026
CLONE_NEW = 0x7E020000 | 0x80
"""Every kind of namespace."""

# Name of a call → its number on x86_64 and on aarch64; 0 where there is none.
NUMBERS = {
    "socket": (41, 198),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "shmget": (29, 194), "shmat": (30, 196), "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440), "move_pages": (279, 239), "migrate_pages": (256, 238),
    "sched_setscheduler": (144, 119), "sched_setparam": (142, 118),
    "sched_setattr": (314, 274), "setpriority": (141, 140), "ioprio_set": (251, 30),
    "setsid": (112, 157), "setpgid": (109, 154),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "chmod": (90, 0), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, 0), "lchown": (94, 0), "fchownat": (260, 54),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "removexattr": (197, 14), "lremovexattr": (198, 15),
    "setxattrat": (463, 463), "removexattrat": (466, 466), "file_setattr": (469, 469),
    "utime": (132, 0), "utimes": (235, 0), "futimesat": (261, 0),
}  # fmt: skip
"""Sockets of every kind; memory, time and traces of other processes; groups of processes, by which a command is ended;
namespaces; keys; and the attributes of files that are named by a path, of which Landlock knows nothing."""
OPENED = {"fchmod": (91, 52), "fchown": (93, 55), "fsetxattr": (190, 7), "fremovexattr": (199, 16)}
"""The same attributes of files that are open: refused, unless the command may write."""
CLONE, CLONE3 = {"x86_64": 56, "aarch64": 220}, 435
PRLIMIT, AFFINITY = {"x86_64": 302, "aarch64": 261}, {"x86_64": 203, "aarch64": 122}
UTIMENSAT = {"x86_64": 280, "aarch64": 88}

Step = tuple[int, int, int, int]
"""What to do, how many steps to skip if it is so and if not, and with which value."""


def filtered(write: bool) -> None:
    """Give up the calls for good. Whoever does this has given up new privileges before."""
    if MACHINE not in ARCH:
        raise OSError(f"there is no filter for calls of the kernel on `{MACHINE}`")
    steps = b"".join(struct.pack("HBBI", *step) for step in _program(write))
    held = ctypes.create_string_buffer(steps, len(steps))
    program = struct.pack("HxxxxxxQ", len(steps) // 8, ctypes.addressof(held))
    given = ctypes.create_string_buffer(program, len(program))
    checked(libc.prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.c_void_p(ctypes.addressof(given)), 0, 0), "seccomp")


def _program(write: bool) -> list[Step]:
    place = 0 if MACHINE == "x86_64" else 1
    refused = {**NUMBERS, **({} if write else OPENED)}
    steps = [(LOAD, 0, 0, MACHINE_AT), (EQUAL, 1, 0, ARCH[MACHINE]), (ANSWER, 0, 0, KILL), (LOAD, 0, 0, NUMBER)]
    if MACHINE == "x86_64":
        steps += [(ABOVE, 0, 1, X32), (ANSWER, 0, 0, EPERM)]
    steps += _each((numbers[place] for numbers in refused.values() if numbers[place]), EPERM)
    steps += _each([CLONE3], ENOSYS)  # libraries then take the older call, whose arguments can be read
    steps += [(EQUAL, 0, 4, CLONE[MACHINE]), (LOAD, 0, 0, FIRST), (ANY_BIT, 0, 1, CLONE_NEW), (ANSWER, 0, 0, EPERM)]
    steps += [(ANSWER, 0, 0, ALLOW)]
    steps += [*_none(PRLIMIT[MACHINE], FIRST), *_none(AFFINITY[MACHINE], FIRST)]  # of this process alone
    steps += _none(UTIMENSAT[MACHINE], SECOND) if write else _each([UTIMENSAT[MACHINE]], EPERM)  # of an open file
    return [*steps, (ANSWER, 0, 0, ALLOW)]


def _each(numbers: Iterable[int], answer: int) -> list[Step]:
    return [step for number in numbers for step in ((EQUAL, 0, 1, number), (ANSWER, 0, 0, answer))]


def _none(number: int, argument: int) -> list[Step]:
    """Refuse a call unless an argument, both halves of it, is zero."""
    asked: list[Step] = [(EQUAL, 0, 6, number), (LOAD, 0, 0, argument), (EQUAL, 0, 3, 0)]
    return [*asked, (LOAD, 0, 0, argument + 4), (EQUAL, 0, 1, 0), (ANSWER, 0, 0, ALLOW), (ANSWER, 0, 0, EPERM)]

"""A filter on calls of the kernel: what other walls leave open is refused before the kernel looks
at it."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterable
from functools import cache

from stanchion.runtime.sandbox.keeping.calls import MACHINE, PR_SET_SECCOMP, checked, libc

MODE_FILTER = 2
ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32 = 0x40000000
LOAD, AND, EQUAL, ABOVE, ANY_BIT, ANSWER = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
NUMBER, MACHINE_AT, FIRST, SECOND, THIRD, FOURTH = 0, 4, 16, 24, 32, 40
"""Where the kernel puts the number of a call, the machine, and the arguments."""
ALLOW, KILL, EPERM, ENOSYS = 0x7FFF0000, 0x80000000, 0x50001, 0x50026
EAFNOSUPPORT = 0x50061
CLONE_NEW = 0x7E020000 | 0x80
"""Every kind of namespace."""
SET_ID = 0o6000
"""Have a program run as its owner, or as its group."""
MAKES = 0o100 | 0o20000000
"""`O_CREAT`, and the bit of `O_TMPFILE` that is its own: only then a mode is read."""
SOCKET, FAMILIES, NETLINK = (41, 198), (1, 2, 10), 16
"""The families of sockets that end at a network of one's own, and that of questions about it."""
IOCTL, TIOCSTI, TIOCLINUX = (16, 29), 0x5412, 0x541C
"""What types into the terminal, for whoever reads from it next."""
AF_UNIX, SOCK_TYPE, SOCK_STREAM, SOCK_SEQPACKET = 1, 0xF, 1, 5

Numbers = dict[str, tuple[int, int]]
"""Name of a call → its number on x86_64 and on aarch64; 0 where there is none."""

REACHING: Numbers = {
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "memfd_secret": (447, 447), "syslog": (103, 116),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "unshare": (272, 97),
    "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsmount": (432, 432),
    "mount_setattr": (442, 442), "bpf": (321, 280), "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
}  # fmt: skip
"""What does the work of sockets without them; the kernel's log; keys; namespaces and mounts; and
what reaches far into the kernel."""
EVERYWHERE: Numbers = REACHING | {
    "socket": (41, 198), "memfd_create": (319, 279), "mq_open": (240, 180),
    "shmget": (29, 194), "shmat": (30, 196), "semget": (64, 190), "msgget": (68, 186),
}  # fmt: skip
"""And what a command without a network and within limits has no use for: sockets of every kind,
memory that no limit counts."""
ALONE: Numbers = {
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "kcmp": (312, 272), "pidfd_getfd": (438, 438), "process_madvise": (440, 440),
    "move_pages": (279, 239), "migrate_pages": (256, 238), "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274), "setpriority": (141, 140), "ioprio_set": (251, 30),
    "setsid": (112, 157), "setpgid": (109, 154),
    "chmod": (90, 0), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, 0), "lchown": (94, 0), "fchownat": (260, 54),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "removexattr": (197, 14),
    "lremovexattr": (198, 15), "setxattrat": (463, 463), "removexattrat": (466, 466),
    "file_setattr": (469, 469), "utime": (132, 0), "utimes": (235, 0), "futimesat": (261, 0),
}  # fmt: skip
"""What namespaces would hold: memory, time and traces of other processes; groups of processes, by
which a command is ended; and the attributes of files that are named by a path, of which Landlock
knows nothing."""
OPENED: Numbers = {
    "fchmod": (91, 52),
    "fchown": (93, 55),
    "fsetxattr": (190, 7),
    "fremovexattr": (199, 16),
}
"""The same attributes of files that are open: refused beside Landlock alone, unless the command may
write."""
NOT_THERE: Numbers = {"clone3": (435, 435), "openat2": (437, 437)}
"""Their arguments cannot be read here: libraries take the older calls instead."""
MODES = (
    ((90, 0), SECOND), ((91, 52), SECOND), ((268, 53), THIRD), ((452, 452), THIRD),
    ((85, 0), SECOND), ((133, 0), SECOND), ((259, 33), THIRD),
)  # fmt: skip
"""Calls that give a file a mode, and where it stands: `chmod`, `fchmod`, `fchmodat`, `fchmodat2`;
`creat`, `mknod`, `mknodat`."""
OPENS = (((2, 0), SECOND, THIRD), ((257, 56), THIRD, FOURTH))
"""`open` and `openat`: where they say whether a file is made, and with which mode."""
CLONE, SOCKETPAIR = (56, 220), (53, 199)
PRLIMIT, AFFINITY, UTIMENSAT = (302, 261), (203, 122), (280, 88)

Step = tuple[int, int, int, int]
"""What to do, how many steps to skip if it is so and if not, and with which value."""


def filtered(steps: bytes) -> None:
    """Give up calls for good. Whoever does this has given up new privileges before."""
    held = ctypes.create_string_buffer(steps, len(steps))
    program = struct.pack("HxxxxxxQ", len(steps) // 8, ctypes.addressof(held))
    given = ctypes.create_string_buffer(program, len(program))
    checked(
        libc.prctl(PR_SET_SECCOMP, MODE_FILTER, ctypes.c_void_p(ctypes.addressof(given)), 0, 0),
        "seccomp",
    )


@cache
def among_walls() -> bytes:
    """The filter for commands that other walls stand round, too; empty where the numbers of calls
    are not known."""
    return _packed(_refused(EVERYWHERE) + _arguments() + _pairs()) if MACHINE in ARCH else b""


@cache
def of_contained() -> bytes:
    """The filter for a contained run, whose network is its own, and who has our terminal; empty
    where the numbers of calls are not known."""
    steps = _refused(REACHING) + _arguments() + _sockets() + _terminal()
    return _packed(steps) if MACHINE in ARCH else b""


@cache
def filter_alone(write: bool) -> bytes:
    """The filter for commands that Landlock alone stands round."""
    if MACHINE not in ARCH:
        raise OSError(f"there is no filter for calls of the kernel on `{MACHINE}`")
    steps = _refused({**EVERYWHERE, **ALONE, **({} if write else OPENED)})
    steps += [*_arguments(), *_pairs()]
    steps += [*_none(PRLIMIT, FIRST), *_none(AFFINITY, FIRST)]  # of this process alone
    steps += (
        _none(UTIMENSAT, SECOND) if write else _each([_here(UTIMENSAT)], EPERM)
    )  # of an open file
    return _packed(steps)


def _packed(steps: list[Step]) -> bytes:
    first: list[Step] = [
        (LOAD, 0, 0, MACHINE_AT),
        (EQUAL, 1, 0, ARCH[MACHINE]),
        (ANSWER, 0, 0, KILL),
    ]
    first += [(LOAD, 0, 0, NUMBER)]
    if MACHINE == "x86_64":
        first += [(ABOVE, 0, 1, X32), (ANSWER, 0, 0, EPERM)]
    return b"".join(struct.pack("HBBI", *step) for step in [*first, *steps, (ANSWER, 0, 0, ALLOW)])


def _here(numbers: tuple[int, int]) -> int:
    return numbers[0 if MACHINE == "x86_64" else 1]


def _refused(calls: Numbers) -> list[Step]:
    known = [_here(numbers) for numbers in calls.values() if _here(numbers)]
    return [
        *_each(known, EPERM),
        *_each([_here(numbers) for numbers in NOT_THERE.values()], ENOSYS),
    ]


def _arguments() -> list[Step]:
    """What is refused by its arguments: namespaces, and programs that run as their owner."""
    steps = _bits(CLONE, (FIRST, CLONE_NEW))
    for numbers, mode in MODES:
        steps += _bits(numbers, (mode, SET_ID))
    for numbers, flags, mode in OPENS:
        steps += _bits(numbers, (flags, MAKES), (mode, SET_ID))
    return steps


def _each(numbers: Iterable[int], answer: int) -> list[Step]:
    return [step for number in numbers for step in ((EQUAL, 0, 1, number), (ANSWER, 0, 0, answer))]


def _bits(numbers: tuple[int, int], *asked: tuple[int, int]) -> list[Step]:
    """Refuse a call if each of some arguments has one of its bits."""
    if not _here(numbers):
        return []
    steps: list[Step] = [(EQUAL, 0, 2 * len(asked) + 2, _here(numbers))]
    for place, (argument, bits) in enumerate(asked):
        steps += [(LOAD, 0, 0, argument), (ANY_BIT, 0, 2 * (len(asked) - place) - 1, bits)]
    return [*steps, (ANSWER, 0, 0, EPERM), (ANSWER, 0, 0, ALLOW)]


def _pairs() -> list[Step]:
    """Allow pairs of sockets that are connected for good; from one that sends datagrams any socket
    can be reached that has a name."""
    kind: list[Step] = [(LOAD, 0, 0, SECOND), (AND, 0, 0, SOCK_TYPE), (EQUAL, 1, 0, SOCK_STREAM)]
    kind += [(EQUAL, 0, 1, SOCK_SEQPACKET), (ANSWER, 0, 0, ALLOW), (ANSWER, 0, 0, EPERM)]
    return [(EQUAL, 0, 8, _here(SOCKETPAIR)), (LOAD, 0, 0, FIRST), (EQUAL, 0, 5, AF_UNIX), *kind]


def _sockets() -> list[Step]:
    """Allow sockets of some families alone: others pass a network of one's own by."""
    known = [step for one in FAMILIES for step in ((EQUAL, 0, 1, one), (ANSWER, 0, 0, ALLOW))]
    routes: list[Step] = [(EQUAL, 0, 3, NETLINK), (LOAD, 0, 0, THIRD), (EQUAL, 0, 1, 0)]
    steps = [(LOAD, 0, 0, FIRST), *known, *routes, (ANSWER, 0, 0, ALLOW)]
    return [(EQUAL, 0, len(steps) + 1, _here(SOCKET)), *steps, (ANSWER, 0, 0, EAFNOSUPPORT)]


def _terminal() -> list[Step]:
    steps = [(LOAD, 0, 0, SECOND), *_each((TIOCSTI, TIOCLINUX), EPERM), (ANSWER, 0, 0, ALLOW)]
    return [(EQUAL, 0, len(steps), _here(IOCTL)), *steps]


def _none(numbers: tuple[int, int], argument: int) -> list[Step]:
    """Refuse a call unless an argument, both halves of it, is zero."""
    asked: list[Step] = [(EQUAL, 0, 6, _here(numbers)), (LOAD, 0, 0, argument), (EQUAL, 0, 3, 0)]
    return [
        *asked,
        (LOAD, 0, 0, argument + 4),
        (EQUAL, 0, 1, 0),
        (ANSWER, 0, 0, ALLOW),
        (ANSWER, 0, 0, EPERM),
    ]

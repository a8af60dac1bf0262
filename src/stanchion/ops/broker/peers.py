"""Who is at the other end of a socket, and whether a broker works for them."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import struct
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Final, NamedTuple

if sys.platform != "win32":
    import grp
    import pwd

CREDENTIALS: Final = struct.Struct("iII")


class Unsupported(Exception):
    """This system does not say who is at the other end of a socket."""


class NobodyKnown(ValueError):
    """A user or a group that this system does not know."""


class Peer(NamedTuple):
    """The process at the other end, as the kernel says, and the tenant it works for."""

    pid: int
    uid: int
    gid: int
    tenant: str = "default"


def supported() -> None:
    """Raise `Unsupported` where a broker cannot know its clients."""
    if not sys.platform.startswith("linux"):
        raise Unsupported(
            "a broker needs Linux: only there does a socket say which user is at its other end"
        )


def peer_of(sock: socket.socket) -> Peer:
    """Who has connected; the kernel says so, and nobody can pretend to be another."""
    supported()
    found = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
    return Peer(*CREDENTIALS.unpack(found))


class Admission:
    """Which users a broker works for, and for which tenant each of them asks."""

    def __init__(self, users: Mapping[int, str], groups: Mapping[int, str]) -> None:
        self._users, self._groups = dict(users), dict(groups)

    def tenant_of(self, peer: Peer) -> str | None:
        """The tenant of a user: what is said of the user, or of a group of theirs; `None` where
        nothing is."""
        if peer.uid in self._users:
            return self._users[peer.uid]
        for gid in (peer.gid, *_groups_of(peer)):
            if gid in self._groups:
                return self._groups[gid]
        return None

    def may_serve(self, uid: int) -> bool:
        """Whether it works for a user in whatever group they run; so it may, where groups count and
        it cannot be told which are theirs."""
        try:
            gid = pwd.getpwuid(uid).pw_gid if self._groups else -1
        except KeyError:
            return True
        return self.tenant_of(Peer(0, uid, gid)) is not None

    @property
    def is_empty(self) -> bool:
        """Whether it lets nobody in."""
        return not self._users and not self._groups


def admission(users: Iterable[str], groups: Iterable[str]) -> Admission:
    """An admission as an operator writes it: `NAME`, `ID`, or either with `:TENANT`; `NobodyKnown`
    for a stranger."""
    return Admission(
        dict(_entry(one, "user", lambda name: pwd.getpwnam(name).pw_uid) for one in users),
        dict(_entry(one, "group", lambda name: grp.getgrnam(name).gr_gid) for one in groups),
    )


def _split(written: str) -> tuple[str, str]:
    name, colon, tenant = written.partition(":")
    if not name or (colon and not tenant):
        raise NobodyKnown(f"`{written}` does not name a user: write NAME, or NAME:TENANT")
    return name, tenant if tenant else "default"


def _entry(written: str, kind: str, known: Callable[[str], int]) -> tuple[int, str]:
    name, tenant = _split(written)
    if name.isascii() and name.isdigit():
        return int(name), tenant
    try:
        return known(name), tenant
    except KeyError:
        raise NobodyKnown(
            f"there is no {kind} `{name}`: create one with `{kind}add`, or give a number"
        ) from None


def _groups_of(peer: Peer) -> list[int]:
    try:
        return os.getgrouplist(pwd.getpwuid(peer.uid).pw_name, peer.gid)
    except (KeyError, OSError):
        return []


PR_SET_PDEATHSIG: Final = 1
M_ARENA_MAX: Final = -8

_C: Final = ctypes.CDLL(None)


def die_with_parent() -> None:
    """Have the system end this process when its parent ends, however it does."""
    parent = os.getppid()
    _C.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if parent == 1:  # it has ended before
        os._exit(1)


def share_memory_between_threads() -> None:
    """Have all threads take memory from one place: the library would give each a place of its own,
    and never give that back."""
    with suppress(AttributeError):
        _C.mallopt(M_ARENA_MAX, 1)


def give_back_memory() -> None:
    """Give memory that nothing is kept in back to the system, where its C library can."""
    with suppress(AttributeError):
        _C.malloc_trim(0)

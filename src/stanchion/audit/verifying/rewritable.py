"""Whether a user could rewrite a file, or put another in its place: what they could is a copy, and
proves less."""

from __future__ import annotations

import os
import stat
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

if sys.platform != "win32":
    import fcntl
    import pwd

FIXED: Final = 0x10 | 0x20
"""The attributes of Linux that keep a file as it is: immutable, and append-only."""

# _IOR('f', 1, long)
_GETFLAGS: Final = 0x80000000 | struct.calcsize("l") << 16 | ord("f") << 8 | 1
_ACL: Final = "system.posix_acl_access"

FlagsOf = Callable[[Path], int]
"""Gives the attributes of a file; 0 where there are none or nobody can tell."""


def why_rewritable(path: Path, uid: int | None, flags_of: FlagsOf | None = None) -> str:
    """Why a user could rewrite what is at a path; empty where they could not. Whatever cannot be
    told counts as yes."""
    if uid is None:
        return "this operating system does not say who can write to it"
    if uid == 0:
        return "root can rewrite every file here"
    flags = attributes if flags_of is None else flags_of
    try:
        real = path.resolve(strict=True)
        why = _content(real, uid, flags)
        for entry in dict.fromkeys((path.absolute(), real)):
            why = why if why else _replaceable(entry, uid, flags)
    except OSError as error:
        return f"cannot find out who can write to it: {error.strerror or error}"
    return why


def owner_of(folder: Path | None) -> int | None:
    """The user whose a trail is; this user where there is no folder yet, None where a system has no
    such users."""
    if sys.platform == "win32":
        return None
    try:
        return os.geteuid() if folder is None else folder.stat().st_uid
    except OSError:
        return os.geteuid()


def attributes(path: Path) -> int:
    """The attributes that Linux keeps with a file: `chattr +a` sets one."""
    if not sys.platform.startswith("linux") or stat.S_ISFIFO(path.stat().st_mode):
        return 0
    for way in (os.O_RDONLY, os.O_WRONLY | os.O_APPEND):
        try:
            descriptor = os.open(path, way | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            said = fcntl.ioctl(descriptor, _GETFLAGS, bytes(struct.calcsize("l")))
            return int(struct.unpack_from("i", said)[0])
        except OSError:
            return 0
        finally:
            os.close(descriptor)
    return 0


def _content(path: Path, uid: int, flags: FlagsOf) -> str:
    found = path.stat()
    if flags(path) & FIXED:
        return ""
    if found.st_uid == uid:
        return f"it belongs to user {uid}"
    if stat.S_ISFIFO(found.st_mode):
        return ""
    return f"user {uid} can write anywhere in it" if _writes(path, found, uid) else ""


def _replaceable(path: Path, uid: int, flags: FlagsOf) -> str:
    """Whoever can write to a folder above can put something else in its place; not where an
    attribute keeps it."""
    for entry, folder in zip((path, *path.parents), path.parents, strict=False):
        found = folder.stat()
        if (not entry.is_symlink() and flags(entry) & FIXED) or flags(folder) & FIXED:
            continue
        if found.st_uid == uid:
            return f"the folder `{folder}` belongs to user {uid}"
        sticky = found.st_mode & stat.S_ISVTX and entry.lstat().st_uid != uid
        if not sticky and _writes(folder, found, uid):
            return f"user {uid} can write to the folder `{folder}`"
    return ""


def _writes(path: Path, found: os.stat_result, uid: int) -> bool:
    mode = found.st_mode
    if mode & stat.S_IWOTH:
        return True
    if not mode & stat.S_IWGRP:
        return False
    # With an access list the group's bits stand for everybody whom it names.
    return _has_list(path) or _in_group(uid, found.st_gid)


def _has_list(path: Path) -> bool:
    try:
        return sys.platform.startswith("linux") and bool(os.getxattr(path, _ACL))
    except OSError:
        return False


def _in_group(uid: int, gid: int) -> bool:
    if sys.platform == "win32":
        return True
    try:
        user = pwd.getpwuid(uid)
        return gid in os.getgrouplist(user.pw_name, user.pw_gid)
    except (KeyError, OSError):
        return uid != os.geteuid() or gid in (os.getegid(), *os.getgroups())

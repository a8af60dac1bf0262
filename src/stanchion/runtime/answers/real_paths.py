"""Real paths: where links lead on this host, for the guard that asks."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from stat import S_ISLNK
from time import monotonic
from typing import Any, Final
from urllib.parse import unquote

from stanchion.readings.word_lists import in_order

HOMES: Final = frozenset({"/home", "/Users", "/var/home", "/export/home"})
"""Folders with one for each person."""

NEAR: Final = in_order(
    "bpf btrfs cgroup cgroup2 debugfs devpts devtmpfs erofs exfat ext2 ext3 ext4 f2fs hugetlbfs "
    "iso9660 jfs mqueue overlay proc pstore ramfs securityfs squashfs sysfs tmpfs tracefs vfat "
    "xfs zfs"
)
"""File systems that answer at once: the kernel's own, and those on disks of this machine."""
MOUNTS: Final = "/proc/self/mounts"
LOOKED_S: Final = 5.0
"""How long it is remembered what is mounted where."""
MOST_LINKS: Final = 40
"""How many links a path is followed through at once, as by the system itself."""


def real_paths(asked: Any) -> dict[str, Any]:
    """The real paths of folders, and of paths as they are seen from the first of them or from the
    folder beside them.

    Links are followed as far as there are files; what does not exist yet is where it would be made.
    `absent` says of which paths not even the first folder, or the home, is on this disk: they are
    paths of another one. What this process has for itself is below `/proc/[pid]`: the same question
    has the same answer in every process.
    """
    return _answered(asked, os.path.realpath, os.path.lexists)


def real_paths_at_once(asked: Any) -> dict[str, Any]:
    """The same, each name looked at once; `BlockingIOError` where a path leads to what is not on a
    disk of this machine, which may never answer."""
    walk = DiskWalk(far_mounts())
    return _answered(asked, walk.real, walk.exists)


real_paths.at_once = real_paths_at_once  # type: ignore[attr-defined]  # whoever asks looks for it


class DiskWalk:
    """Follows links for one question: what a name on the disk is, is looked at once."""

    def __init__(self, far: frozenset[str]) -> None:
        self._far = far
        self._names: dict[str, str | bool] = {"": True}
        """Where links lead, and whether there is anything else of a name."""

    def real(self, path: str) -> str:
        """What `os.path.realpath` gives."""
        names = (path if path[:1] == "/" else f"{os.getcwd()}/{path}").split("/")
        names.reverse()
        at, links = "", 0
        while names:
            name = names.pop()
            if not name or name == ".":
                continue
            if name == "..":
                at = at.rpartition("/")[0]
                continue
            there = f"{at}/{name}"
            found = self._names[there] if there in self._names else self._look(there)
            if type(found) is bool:
                at = there
                continue
            links += 1
            if links > MOST_LINKS:
                raise BlockingIOError(path)
            names += reversed(found.split("/"))
            at = "" if found[:1] == "/" else at
        return at if at else "/"

    def exists(self, path: str) -> bool:
        """What `os.path.lexists` says of the real path of a name."""
        at = path.rstrip("/")
        return (self._names[at] if at in self._names else self._look(at)) is not False

    def _look(self, there: str) -> str | bool:
        if there in self._far:
            raise BlockingIOError(there)
        found: str | bool = False
        with suppress(OSError):
            found = os.readlink(there) if S_ISLNK(os.lstat(there).st_mode) else True
        self._names[there] = found
        return found


def far_mounts() -> frozenset[str]:
    """Where something is mounted that may keep whoever asks waiting; `BlockingIOError` where nobody
    says what is mounted."""
    return _far_mounts(int(monotonic() / LOOKED_S))


@lru_cache(1)
def _far_mounts(_since: int) -> frozenset[str]:
    try:
        with open(MOUNTS, "rb") as lines:
            said = [os.fsdecode(line).split(" ") for line in lines]
        kinds = {place: kind for _, place, kind, *_ in said}
    except (OSError, ValueError):
        raise BlockingIOError(MOUNTS) from None
    if kinds.pop("/", "") not in NEAR:
        raise BlockingIOError("/")
    return frozenset([_unescaped(place) for place, kind in kinds.items() if kind not in NEAR])


def _unescaped(place: str) -> str:
    for code in ("040", "011", "012", "134"):
        place = place.replace(f"\\{code}", chr(int(code, 8)))
    return place


def _answered(
    asked: Any, real: Callable[[str], str], exists: Callable[[str], bool]
) -> dict[str, Any]:
    roots = [_own(real(os.path.expanduser(root))) for root in asked.roots]
    start = roots[0] if roots else os.getcwd()
    paths = [
        _own(real(os.path.join(start, _plain(base), _plain(path)))) for path, base in asked.paths
    ]
    return {"roots": roots, "paths": paths, "absent": [not exists(_top(path)) for path in paths]}


def _top(path: str) -> str:
    names = path.split("/")
    top = "/".join(names[:2])
    while top in HOMES and len(names) > top.count("/") + 1:
        top = "/".join(names[: top.count("/") + 2])
    return top if top else "/"


def _own(real: str) -> str:
    """A real path as every process has it."""
    own = f"/proc/{os.getpid()}" if real.startswith("/proc/") else ""
    if not own or (real != own and not real.startswith(f"{own}/")):
        return real
    return _unnumbered(real.removeprefix(own))


def _unnumbered(rest: str) -> str:
    """What this process has for itself, without its number, its threads' and those of what it has
    open."""
    _, *names = rest.split("/")
    if names[:1] == ["task"] and len(names) > 1:
        names[1] = "[tid]"
    if names[:1] == ["fd"]:
        names = [name.partition(":[")[0] for name in names]
    return "/".join(["/proc/[pid]", *names])


def _plain(path: str) -> str:
    if path[:5].lower() == "file:":
        path = unquote(path[5:].removeprefix("//").removeprefix("localhost"))
    return os.path.expanduser(os.path.expandvars(path))

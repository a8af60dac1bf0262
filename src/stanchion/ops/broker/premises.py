"""The premises of a broker: what it keeps must be out of the reach of everybody else."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
WRITERS: Final = stat.S_IWGRP | stat.S_IWOTH
READERS: Final = stat.S_IRGRP | stat.S_IROTH
PASSERS: Final = stat.S_IXGRP | stat.S_IXOTH


class Exposed(Exception):
    """Something of the broker's is within the reach of others; the text says what, and what to
    do."""


def own_folder(folder: Path) -> Path:
    """The broker's folder, made where there is none; `Exposed` where anybody else can get at it."""
    if not folder.is_absolute():
        raise Exposed(f"the state folder `{folder}` is not an absolute path: give one")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    real = folder.resolve()
    found = real.stat()
    if not stat.S_ISDIR(found.st_mode):
        raise Exposed(
            f"`{real}` is not a folder: give the folder in which the broker keeps its state"
        )
    if found.st_uid != os.geteuid():
        raise Exposed(
            f"`{real}` belongs to user {found.st_uid}: `chown` it to user {os.geteuid()}, who runs "
            f"the broker"
        )
    if found.st_mode & OTHERS:
        raise Exposed(
            f"`{real}` is open to others: `chmod 700 {real}`, and check whether anybody has "
            f"changed it"
        )
    _unmovable(real)
    return real


def own_file(file: Path) -> None:
    """Raise `Exposed` where anybody else can read, change or replace a file of the broker's."""
    real = file.resolve()
    found = real.stat()
    _belongs(real, found.st_uid)
    _unmovable(real)
    if found.st_mode & WRITERS and _is_reachable(real):
        raise Exposed(
            f"`{real}` can be changed by others: `chmod 600 {real}`, and check whether anybody has "
            f"changed it"
        )
    if found.st_mode & READERS and _is_reachable(real):
        raise Exposed(
            f"`{real}` can be read by others: `chmod 600 {real}`, or keep it in the broker's own "
            f"folder"
        )


def _unmovable(path: Path) -> None:
    """Whoever can write to a folder above can put something else in its place, unless the folder is
    sticky."""
    for folder in path.parents:
        found = folder.stat()
        _belongs(folder, found.st_uid)
        if found.st_mode & WRITERS and not found.st_mode & stat.S_ISVTX:
            raise Exposed(
                f"`{folder}` can be changed by others, and `{path}` is in it: `chmod go-w {folder}`"
            )


def _belongs(path: Path, uid: int) -> None:
    if uid not in (0, os.geteuid()):
        raise Exposed(
            f"`{path}` belongs to user {uid}: it has to be root's, or that of user {os.geteuid()}"
        )


def _is_reachable(path: Path) -> bool:
    """Whether anybody else gets as far as the file: one closed folder above is enough to keep them
    out."""
    return all(folder.stat().st_mode & PASSERS for folder in path.parents)

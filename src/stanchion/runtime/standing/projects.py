"""Which project a folder belongs to, and the folder in which that project's state says whose it
is."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Final

import msgspec

from stanchion import typed
from stanchion.kernel.regex import regex

MARKERS: Final = (".git", ".hg", "pyproject.toml", "package.json", "stanchion.yaml", ".stanchion")
"""What makes a folder the root of a project: one of these in it, whatever it is."""

OWNER: Final = "project.json"
"""The file that says whose state a folder holds."""

NAME_LENGTH: Final = 40

_OTHER: Final = regex(r"[^A-Za-z0-9._-]+")
_EVERYBODYS: Final = stat.S_ISVTX | stat.S_IWOTH


class Owner(msgspec.Struct, frozen=True):
    """Whose state a folder holds: the project's root."""

    root: str


def project_of(folder: Path, home: Path) -> Path:
    """The root of the project that a folder is in: the nearest folder with a marker, or else the
    folder itself.

    Paths are real ones, so every way to a folder leads to one root. A marker counts in no folder
    that holds more than one project: the home folder and what is above it, the root of a file
    system, and what everybody may write to, like `/tmp`, where anybody could put one.
    """
    start, wide = os.path.realpath(folder), {*_upwards(os.path.realpath(home))}
    for each in _upwards(start):
        if each in wide or each == os.path.dirname(each) or _is_everybodys(each):
            break
        if any(os.path.lexists(os.path.join(each, name)) for name in MARKERS):
            return Path(each)
    return Path(start)


def state_name(root: Path) -> str:
    """What the folder of a project's state is called: the root's name, and eight digits of its
    path."""
    name = _OTHER.sub("-", root.name).strip("-.")[:NAME_LENGTH]
    return f"{name if name else 'project'}-{blake2b(os.fsencode(root), digest_size=4).hexdigest()}"


def claim(folder: Path, root: Path) -> None:
    """Write down, once, whose state a folder holds; `OSError` where it is another project's.

    Where it cannot be written that is for the store or the trail to say, which are to be in the
    same folder.
    """
    own, known = _words(root), owner_of(folder)
    if known is not None and known != own:
        raise OSError(
            f"`{folder}` holds the state of `{known}` and not of `{own}`: move that folder away"
        )
    if known is None:
        with contextlib.suppress(OSError):
            for each in reversed((folder, *folder.parents)):
                if not each.exists():
                    each.mkdir(mode=0o700, exist_ok=True)
            made = folder / f".{OWNER}-{os.urandom(8).hex()}"
            with open(os.open(made, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                file.write(msgspec.json.encode(Owner(own)) + b"\n")
            made.replace(folder / OWNER)


def owner_of(folder: Path) -> str | None:
    """The root of the project whose state a folder holds; `None` where it does not say."""
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        return typed.decode((folder / OWNER).read_bytes(), Owner).root
    return None


def _upwards(path: str) -> Iterator[str]:
    """A folder and those above it; the root of a file system is the last."""
    yield path
    while (above := os.path.dirname(path)) != path:
        path = above
        yield path


def _is_everybodys(folder: str) -> bool:
    try:
        return os.stat(folder).st_mode & _EVERYBODYS == _EVERYBODYS
    except OSError:
        return False


def _words(root: Path) -> str:
    """A path as JSON can hold it, whatever bytes it has."""
    return os.fsencode(root).decode("utf-8", "backslashreplace")

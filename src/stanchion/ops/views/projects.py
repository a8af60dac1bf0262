"""The states of all projects of a user: whose each is, its size, its last use, and whether the
project is there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from stanchion.audit.layout import state_folder
from stanchion.runtime.standing.places import PROJECTS, SHARED, owner_of


class ProjectView(msgspec.Struct, frozen=True):
    """The state of one project. `root` is empty where its folder does not say whose it is, or it is
    the shared one; `exists` says whether that root is still a folder."""

    name: str
    root: str
    folder: str
    size_bytes: int
    last_used_ms: int
    exists: bool


def project_states(environ: Mapping[str, str]) -> list[ProjectView]:
    """All of them, the one that was used last first; the shared state is among them. `OSError`
    where the folder of states cannot be read."""
    user = state_folder(environ)
    folders = [user / SHARED] if (user / SHARED).is_dir() else []
    with contextlib.suppress(FileNotFoundError):
        folders += [
            each for each in (user / PROJECTS).iterdir() if each.is_dir() and not each.is_symlink()
        ]
    return sorted(map(_read, folders), key=lambda one: (-one.last_used_ms, one.name))


def _read(folder: Path) -> ProjectView:
    size, last = 0, 0
    for at, _, names in os.walk(folder):
        for name in names:
            try:
                found = os.lstat(os.path.join(at, name))
            except OSError:
                continue
            size, last = size + found.st_size, max(last, found.st_mtime_ns // 1_000_000)
    root = owner_of(folder)
    return ProjectView(
        name=folder.name,
        root="" if root is None else root,
        folder=str(folder),
        size_bytes=size,
        last_used_ms=last,
        exists=root is not None and os.path.isdir(root),
    )

"""Which state it is: whose, where its store and its trail are; and the states of all projects."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from stanchion.audit.layout import STATE_DIR, state_folder
from stanchion.audit.witnessing.place import shown
from stanchion.ops.views.trails import is_database, said
from stanchion.runtime.operating.retention import USUAL, said_of
from stanchion.runtime.standing.places import (
    AUDIT,
    KEEP_DAYS,
    KEEP_MB,
    MEMORY,
    PROJECTS,
    SHARED,
    STORE,
    WITNESS,
    StateFinder,
    is_own,
    keep_of,
    owner_of,
    store_name,
    store_named,
    trail_folder,
)
from stanchion.stores.open_store import address_of, file_of, is_server

IN_MEMORY: Final = "in memory, separate in each process"


class StatePlace(Struct, frozen=True):
    """A state: the project whose it is (empty where it is no project's), its folder, its store and
    its trail as they may be shown, how much of the trail is kept, why it is that one, whether
    anything is kept in it yet, and the place of its witness, where one is named."""

    project: str
    folder: str
    store: str
    trail: str
    why: str
    kept: bool
    keeps: str = ""
    witness: str = ""


def where(found: StateFinder, store: str | None, project: str | None) -> StatePlace:
    """Which state is meant; `OSError` where there can be none, `StoreError` where its store is no
    store."""
    state = found.state
    if state.why == "project":
        why = (
            "the current folder is in this project"
            if project is None
            else f"`--project {project}` is in this project"
        )
    elif state.why == "folder":
        why = f"{STATE_DIR} names its folder"
    else:
        why = "`user:` is the state that all projects of this user can share"
    named = (
        ""
        if is_own(store, os.environ)
        else f"; {'--store' if store is not None else STORE} names the store"
    )
    return StatePlace(
        project="" if state.root is None else str(state.root),
        folder=str(state.folder),
        store=_store(found, store),
        trail=_trail(found),
        why=f"{why}{named}{f'; {AUDIT} names the trail' if os.environ.get(AUDIT, '') else ''}",
        kept=state.folder.is_dir(),
        keeps=_keeps(),
        witness=shown(os.environ.get(WITNESS, "")),
    )


def _keeps() -> str:
    """How much of the trail is kept; nothing where it is in memory alone."""
    if os.environ.get(AUDIT, "") == MEMORY:
        return ""
    try:
        return f"{said_of(keep_of(os.environ, USUAL))} of the trail ({KEEP_DAYS}, {KEEP_MB})"
    except ValueError as error:
        return str(error)


def _store(found: StateFinder, given: str | None) -> str:
    name = store_named(given, os.environ)
    if is_own(given, os.environ):
        return str(store_name(given, os.environ, found))
    if name == MEMORY:
        return IN_MEMORY
    file = file_of(name)
    if file is not None:
        return str(Path(file).absolute())
    # Whatever else it is, it may hold a password.
    return address_of(name) if is_server(name) else f"{name.partition(':')[0]}://…"


def _trail(found: StateFinder) -> str:
    folder = trail_folder(None, os.environ, found)
    if folder is None:
        return IN_MEMORY
    url = os.environ.get(AUDIT, "")
    return (
        f"{folder.absolute()}, copied to {said(url)}"
        if is_database(url)
        else str(folder.absolute())
    )


class ProjectView(Struct, frozen=True):
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


def kept_elsewhere(found: StateFinder, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The roots of other projects of which something is kept, the one that was used last first;
    none where one state was named for everything."""
    with contextlib.suppress(OSError):
        if found.state.why == "project":
            every = project_states(environ)
            return tuple(
                [one.root for one in every if one.exists and one.root != str(found.state.root)]
            )
    return ()


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

"""Whose state a shield uses: one that was asked for by name, or that of the project it works in."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

import msgspec

from stanchion.audit.layout import STATE_DIR, state_folder
from stanchion.runtime.standing.projects import claim, project_of, state_name

STORE: Final = "STANCHION_STORE"
USER: Final = "user:"
"""The name of the state that all projects of a user can share."""

SHARED: Final = "shared"
PROJECTS: Final = "projects"


class State(msgspec.Struct, frozen=True):
    """A folder for state, and why it is that one: a project's own, one for everything that
    `STANCHION_STATE_DIR` names, or the user's shared one."""

    folder: Path
    why: Literal["project", "folder", "shared"]
    root: Path | None = None


class Whose:
    """Finds the state of a shield, when somebody asks for it and once. `start` is the folder from
    which its project is looked for, the current one if there is none; `store` is how its store was
    named."""

    def __init__(
        self, environ: Mapping[str, str], start: Path | None = None, store: object = None
    ) -> None:
        self._environ, self._start, self._store = environ, start, store
        self._found: State | None = None
        self._claimed = False

    @property
    def state(self) -> State:
        """The state; `OSError` where there is no place for it."""
        if self._found is None:
            self._found = self._find()
        return self._found

    def keep(self) -> Path:
        """The folder, to keep something in: it then says whose it is."""
        if self.state.root is not None and not self._claimed:
            claim(self.state.folder, self.state.root)
            self._claimed = True
        return self.state.folder

    def _find(self) -> State:
        user = state_folder(self._environ)
        named = self._environ.get(STORE, "") if self._store is None else self._store
        if named == USER:
            return State(user / SHARED, "shared")
        if self._environ.get(STATE_DIR, ""):
            return State(user, "folder")
        root = project_of(
            _current() if self._start is None else self._start, Path(os.path.expanduser("~"))
        )
        return State(user / PROJECTS / state_name(root), "project", root)


def start_of(project: str | Path | None, files: Sequence[Path] = ()) -> Path | None:
    """The folder from which a project is looked for: the one that was named, or that of a policy's
    first file; `None` for the current one. `OSError` where what was named is no folder.

    A policy that is linked to from several projects is each one's own: the link's folder counts.
    """
    if project is None:
        return files[0].parent if files else None
    if not Path(project).is_dir():
        raise OSError(f"the project `{project}` is not a folder: give its root, or a folder in it")
    return Path(project)


def _current() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise OSError(
            f"the current folder no longer exists: change to another, give a project, or set "
            f"{STATE_DIR}"
        ) from None

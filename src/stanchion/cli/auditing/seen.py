"""What the store has seen of a trail: by that a missing end of it is missed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from stanchion.cli.stores import opened
from stanchion.cli.terminal import say
from stanchion.cli.trouble import BadInput
from stanchion.ops.views.trails import anchors_in
from stanchion.runtime.standing.places import (
    MEMORY,
    STORE_FILE,
    TRAIL_FOLDER,
    StateFinder,
    is_own,
    store_named,
)
from stanchion.stores.open_store import file_of

Anchors = list[tuple[str, int, str]]


def seen_in(store: str | None, trail: str | None, folder: Path, found: StateFinder) -> Anchors:
    """The anchors of a trail: in the store that was named, or in that of the project where the
    trail is its own."""
    if store is not None:
        return _read(store, folder, found)
    own = found.state.folder / TRAIL_FOLDER
    if (trail is not None and folder.absolute() != own.absolute()) or is_nowhere(found):
        return []
    try:
        return _read(None, folder, found)
    except BadInput as error:
        say(sys.stderr, f"stanchion: {error}; the end of the trail is not proven")
        return []


def is_nowhere(found: StateFinder) -> bool:
    """Whether the project has no store that outlives a process, or none yet."""
    name = store_named(None, os.environ)
    path = found.state.folder / STORE_FILE if is_own(None, os.environ) else file_of(name)
    return name == MEMORY or (path is not None and not os.path.lexists(path))


def _read(store: str | None, folder: Path, found: StateFinder) -> Anchors:
    with opened(store, found) as kept:
        return [] if kept is None else anchors_in(kept, folder)

"""Own places: everything that a shield keeps on this host, so that its guards can keep agents off
it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from stanchion.audit.layout import state_folder
from stanchion.folders import user_config
from stanchion.guards._own import OwnPlaces
from stanchion.policy.whereabouts import own_policy
from stanchion.runtime.standing.places import KEY, METRICS_DIR

if TYPE_CHECKING:
    from stanchion.telemetry.notices.post import Post

BESIDE: Final = ("-wal", "-shm", "-journal", "-experience", "-experience-wal", "-experience-shm")
"""What SQLite keeps beside a file, and the file of experience with what it keeps beside that."""
BESIDE_KEY: Final = (".verify", ".new")
"""What is made beside the file of an audit key."""
SQLITE: Final = "sqlite:"


def own_places(
    store: Any,
    journal: Any,
    policies: Iterable[Path],
    environ: Mapping[str, str],
    post: Post | None = None,
) -> OwnPlaces:
    """Where a store, a journal and the files of a policy are, the state folder, the folders of keys
    and of the user's own policy, and what says where notices go; each as it is named and as it
    really is."""
    secrets = () if post is None else post.secrets
    closed = [
        *_state(environ),
        *_config(),
        *_stored(store),
        *_recorded(journal),
        *_named(environ),
        *secrets,
    ]
    return OwnPlaces(
        closed=_both(closed),
        policies=_both([*policies, own_policy().parent, *(() if post is None else post.files)]),
        here=_cwd(),
        home=os.path.expanduser("~"),
    )


def state_or_none(environ: Mapping[str, str]) -> Path | None:
    """The state folder; `None` where there is none to be had."""
    try:
        return state_folder(environ)
    except OSError:
        return None


def _state(environ: Mapping[str, str]) -> list[Path]:
    state = state_or_none(environ)
    return [] if state is None else [state]


def _config() -> list[Path]:
    return [Path(user_config()) / "keys"]


def _stored(store: Any) -> list[Path]:
    place = getattr(store, "place", "")
    if not isinstance(place, str) or not place.startswith(SQLITE):
        return []
    file = place.removeprefix(SQLITE)
    return [Path(file), *[Path(f"{file}{end}") for end in BESIDE]]


def _recorded(journal: Any) -> list[Path]:
    folder = getattr(journal, "folder", None)
    return [folder] if isinstance(folder, Path) else []


def _named(environ: Mapping[str, str]) -> list[Path]:
    key, metrics = environ.get(KEY, ""), environ.get(METRICS_DIR, "")
    keys = [Path(f"{key}{end}") for end in ("", *BESIDE_KEY)] if key else []
    return [*keys, Path(metrics)] if metrics else keys


def _both(paths: Iterable[Path]) -> tuple[str, ...]:
    named = [os.path.abspath(path) for path in paths]
    return tuple(
        dict.fromkeys(
            [each.replace("\\", "/") for path in named for each in (path, os.path.realpath(path))]
        )
    )


def _cwd() -> str:
    try:
        return os.getcwd().replace("\\", "/")
    except OSError:  # the folder is gone: relative paths lead nowhere
        return ""

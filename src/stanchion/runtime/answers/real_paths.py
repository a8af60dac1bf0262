"""Real paths: where links lead on this host, for the guard that asks."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import unquote


def real_paths(asked: Any) -> dict[str, list[str]]:
    """The real paths of folders, and of paths as they are seen from the first of them or from the folder beside them.

    Links are followed as far as there are files; what does not exist yet is where it would be made.
    """
    roots = [_real(root) for root in asked.roots]
    start = roots[0] if roots else os.getcwd()
    paths = [_real(os.path.join(start, _plain(base), _plain(path))) for path, base in asked.paths]
    return {"roots": roots, "paths": paths}


def _real(path: str) -> str:
    return os.path.realpath(os.path.expanduser(path))


def _plain(path: str) -> str:
    if path[:5].lower() == "file:":
        path = unquote(path[5:].removeprefix("//").removeprefix("localhost"))
    return os.path.expanduser(os.path.expandvars(path))

"""Real paths: where links lead on this host, for the guard that asks."""

from __future__ import annotations

import os
from typing import Any, Final
from urllib.parse import unquote

HOMES: Final = frozenset({"/home", "/Users", "/var/home", "/export/home"})
"""Folders with one for each person."""


def real_paths(asked: Any) -> dict[str, Any]:
    """The real paths of folders, and of paths as they are seen from the first of them or from the
    folder beside them.

    Links are followed as far as there are files; what does not exist yet is where it would be made.
    `absent` says of which paths not even the first folder, or the home, is on this disk: they are
    paths of another one. What this process has for itself is below `/proc/[pid]`: the same question
    has the same answer in every process.
    """
    roots = [_real(root) for root in asked.roots]
    start = roots[0] if roots else os.getcwd()
    paths = [_real(os.path.join(start, _plain(base), _plain(path))) for path, base in asked.paths]
    return {"roots": roots, "paths": paths, "absent": [_is_absent(path) for path in paths]}


def _is_absent(path: str) -> bool:
    names = path.split("/")
    top = "/".join(names[:2])
    while top in HOMES and len(names) > top.count("/") + 1:
        top = "/".join(names[: top.count("/") + 2])
    return not os.path.lexists(top if top else "/")


def _real(path: str) -> str:
    real = os.path.realpath(os.path.expanduser(path))
    own = f"/proc/{os.getpid()}"
    return (
        _unnumbered(real.removeprefix(own)) if real == own or real.startswith(f"{own}/") else real
    )


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

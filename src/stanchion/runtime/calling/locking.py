"""Locking by hand: the tools by which a run locks and releases something itself. The guard `locks`
does the work."""

from __future__ import annotations

from typing import Any


def lock_file(path: str = "", resource: str = "", lock_type: str = "exclusive") -> str:
    """Lock a file, a folder with everything below it (`src/**`), or a resource, for the rest of the
    run."""
    return f"{path or resource} is locked ({lock_type})"


def unlock_file(path: str = "", resource: str = "") -> str:
    """Release what this run has locked."""
    return f"{path or resource} is released"


def named(kept: bool, path: str, resource: str) -> dict[str, Any]:
    """What is to be locked or released; `ValueError` where that is nothing, or nobody would lock it
    (not `kept`)."""
    if bool(path) == bool(resource):
        raise ValueError("give either a path or a resource")
    if not kept:
        raise ValueError("the policy has no guard `locks`, so nothing can be locked: add one")
    return {"path": path} if path else {"resource": resource}

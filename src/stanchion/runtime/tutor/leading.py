"""Where a path leads, seen from a folder with walls round it."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import Final

MOST_LINKS: Final = 40
"""How many links the kernel follows in one path; behind more of them nothing is found, with walls
or without."""


def leads_out(root: Path, word: str) -> bool:
    """Whether a path leaves a folder at any step, if only to come back: by how it begins, by a step
    back, or by a link.

    The steps are taken one by one, as the kernel takes them: where a step back leads depends on the
    links before it.
    """
    at, links = root, 0
    steps = _steps(root, word)
    while steps:
        step = steps.pop()
        if step.startswith("/") or (step == ".." and at == root):
            return True
        at = at.parent if step == ".." else at / step
        target = _target(at)
        if target is not None:
            links += 1
            if links > MOST_LINKS:
                return False
            at = root if target.startswith("/") else at.parent
            steps += _steps(root, target)
    return False


def _steps(root: Path, path: str) -> list[str]:
    """The steps of a path, the last one first. An absolute path into the folder is taken from
    there; any other begins with `/`."""
    steps = [*PurePosixPath(path).parts]
    own = [*root.parts]
    return (steps[len(own) :] if steps[: len(own)] == own else steps)[::-1]


def _target(path: Path) -> str | None:
    """Where a link leads; `None` for what is no link, or cannot be looked at."""
    try:
        return os.readlink(path)
    except (OSError, ValueError):
        return None

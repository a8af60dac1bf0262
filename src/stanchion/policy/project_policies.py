"""Locating policies: the user's own, and those of the project in which somebody works."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from stanchion.folders import user_config

FOUND: Final = "found"
"""The name that stands for the user's own policy with those of the project laid over it."""

NAMES: Final = ("stanchion.yaml", ".stanchion/policy.yaml")
"""What a policy of a project is called, from the folder it is for; where a folder has both, the
second lies over."""

ROOT: Final = ".git"
"""What the root of a project has."""


def own_policy() -> Path:
    """Where the user's own policy is, if there is one."""
    return Path(user_config()) / "policy.yaml"


def project_root(folder: Path) -> Path:
    """The outermost folder around it that has a `.git`, or the folder itself where none has.

    The outermost one, so that nobody steps out of a project's policies by beginning another inside
    it.
    """
    around = [folder, *folder.parents]
    return next((each for each in reversed(around) if (each / ROOT).exists()), folder)


def project_policies(folder: Path) -> tuple[Path, ...]:
    """The policies of a project from its root down to a folder, the nearest last. A link that leads
    nowhere is among
    them: it cannot be read, and that is told instead of passed over."""
    return tuple(file for file in possible_policies(folder) if file.exists() or file.is_symlink())


def possible_policies(folder: Path) -> tuple[Path, ...]:
    """Where they would be."""
    root = project_root(folder)
    below = [
        each for each in reversed([folder, *folder.parents]) if each == root or root in each.parents
    ]
    return tuple(each / name for each in below for name in NAMES)

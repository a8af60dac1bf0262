"""What guards ask the disk: where paths really lead."""

from __future__ import annotations

from typing import Any

import msgspec


class RealPathsQuestion(msgspec.Struct, frozen=True):
    """A question: the real paths of these folders, and of these paths as they are seen from the
    first folder or from the one beside them; where it matters, how the paths would be used, and for
    which task."""

    roots: tuple[str, ...]
    paths: tuple[tuple[str, str], ...]
    uses: tuple[Any, ...] = ()
    task: str = ""
    looks: tuple[bool, ...] = ()
    """Where a folder is only made, or rights of others end: what is in the place stays as it is."""


def led_to(asked: RealPathsQuestion, value: Any) -> tuple[list[str], list[str]]:
    """Where the folders and the paths of a question really lead, by the disk's answer; raises where
    it is about others, which is a failure and refuses."""
    roots, paths = value["roots"], value["paths"]
    if len(roots) != len(asked.roots) or len(paths) != len(asked.paths):
        raise ValueError("the disk was asked for other paths")
    return roots, paths


def absent_of(asked: RealPathsQuestion, value: Any) -> list[bool]:
    """Which paths of a question belong to another disk, by the disk's answer; none where it does
    not say."""
    said = value.get("absent", [])
    return said if len(said) == len(asked.paths) else [False] * len(asked.paths)

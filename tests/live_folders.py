"""Removing and copying a folder that somebody is still writing to, as `rm -rf` and `cp -r` do."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from typing import Final

_TRIES: Final = 1000
_IN_THE_WAY: Final = frozenset({errno.ENOENT, errno.ENOTEMPTY})
"""A file that was renamed between reading the folder and removing it, and one that came after
reading it."""


def remove(folder: Path) -> None:
    """Take a folder away whoever writes to it: a head that is being replaced keeps nobody from
    it."""
    for _ in range(_TRIES):
        try:
            shutil.rmtree(folder)
        except OSError as error:
            if error.errno not in _IN_THE_WAY:
                raise
        if not folder.exists():
            return
    raise AssertionError(f"{folder} was made anew {_TRIES} times")


def copy(folder: Path, to: Path) -> Path:
    """The files of a folder as they stand, but for what is just being made."""
    return Path(shutil.copytree(folder, to, ignore=shutil.ignore_patterns("*.new")))

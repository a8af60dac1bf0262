"""Files beside a chain that are no records: what a crash left there, and whether it still holds
what was said."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from .files import NotPlain, open_plain

HEAD_NEW: Final = "head.new"
CUT: Final = re.compile(r"cut\.([0-9]{1,18})")

_SAID: Final = re.compile(rb',"kept":\{"salt":"[0-9a-f]{32}",.', re.DOTALL).search
"""How what was said begins in a record: behind its salt."""

Beside = dict[str, tuple[int, int]]
"""Such files by their names, each as it is known from another of that name: its number on the disk,
and its age."""


def beside(chain: Path) -> Beside:
    """The files that a crash left in a chain's folder; none where it cannot be read."""
    found = {}
    try:
        for name in sorted(os.listdir(chain)):
            if name == HEAD_NEW or CUT.fullmatch(name):
                seen = (chain / name).lstat()
                found[name] = (seen.st_ino, seen.st_mtime_ns)
    except OSError:
        return found
    return found


def noted(chain: Path, before: Beside) -> Iterator[str]:
    """What is to be said of such files. A head that is being written has that name, too, for a
    moment: only files count that were there `before`."""
    for name, known in beside(chain).items():
        if before.get(name) != known:
            continue
        try:
            with open_plain(chain / name) as file:
                data = file.read()
        except FileNotFoundError:
            continue
        except (NotPlain, OSError) as error:
            yield f"{name} cannot be read: {error.strerror or error}"
            continue
        said = (
            "still holds content: `stanchion audit erase` removes it"
            if _SAID(data)
            else "holds no content"
        )
        number = CUT.fullmatch(name)
        what = "a new head that was not renamed because of a crash"
        if number is not None:
            what = f"an unfinished part of record {int(number[1])}, cut off after a crash"
        yield f"{name} ({len(data)} bytes) is {what}; nothing reads it, and it {said}"

"""Stretches of a segment: whole lines, a block at a time, so that reading takes no more memory for
a longer file.

A file is read, not mapped: whoever goes on with a chain may cut its file meanwhile, and a process
that looks at pages that are gone dies. Only what is behind the last whole line is ever cut, so
whole lines stay where they are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

BLOCK: Final = 1 << 16
"""How many bytes are read at a time; a line that is longer is read in ever larger blocks."""

Stretch = tuple[int, bytes]
"""Where it begins in its file, and its bytes: whole lines, but for what stands behind the last one
of the file."""


def stretches(path: Path, block: int = BLOCK) -> Iterator[Stretch]:
    """The stretches of a file from its beginning; none where retention has just removed it."""
    try:
        file = path.open("rb", buffering=0)
    except FileNotFoundError:
        return
    with file:
        start, size = 0, block
        while True:
            data = os.pread(file.fileno(), size, start)
            if len(data) < size:
                break
            whole = data.rfind(b"\n") + 1
            if whole:
                yield start, data[:whole]
            start, size = start + whole, block if whole else 2 * size
    yield start, data


def stretches_back(path: Path, end: int | None = None, block: int = BLOCK) -> Iterator[Stretch]:
    """The stretches of a file from its end, or from byte `end`, to its beginning."""
    try:
        file = path.open("rb", buffering=0)
    except FileNotFoundError:
        return
    with file:
        stop, size, rest = os.fstat(file.fileno()).st_size if end is None else end, block, b""
        while stop > size:
            start = stop - size
            data = os.pread(file.fileno(), size, start)
            data = data + rest if len(data) == size else data
            cut = data.find(b"\n") + 1
            if cut:
                yield start + cut, data[cut:]
            stop, size, rest = start, block if cut else 2 * size, data[:cut] if cut else data
        data = os.pread(file.fileno(), stop, 0)
        data = data + rest if len(data) == stop else data
    yield 0, data

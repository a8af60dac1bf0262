"""The text of a policy's file: of a file on the disk, and no more than a policy can have."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES: Final = 32 * 1024 * 1024
"""How many bytes the longest text of a policy can have."""
_READ: Final = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)


def file_text(path: Path) -> str:
    """Read a policy's file; `OSError` for what is no file that ends, as a pipe or a device, and for
    one that is too large. It never waits for somebody to write."""
    with open(os.open(path, _READ), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file: copy it to one")
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {MAX_BYTES >> 20} MiB: split it")
    return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")

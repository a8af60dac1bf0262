"""What goes wrong with a trail."""

from __future__ import annotations

import errno
from typing import Final

from stanchion.kernel.shown import Shown, StanchionError

WORDS: Final = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the disk is read-only",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EIO: "the disk reports an error",
    errno.EMFILE: "too many files are open",
    errno.ENFILE: "too many files are open",
    errno.EFBIG: "the file has reached its size limit (see `ulimit -f`)",
}


class AuditLost(Shown):
    """A record could not be written, or not be made durable; nothing goes ahead on it. Its text
    says why."""


class TrailError(StanchionError, OSError):
    """A trail cannot be opened; its text names the folder, what is wrong, and what to do."""


class NoRecords(TrailError):
    """A database holds no records: none were ever shipped there."""


def reason(error: OSError) -> str:
    """What an error of the disk means, in words that name no file."""
    words = WORDS.get(error.errno) if error.errno is not None else None
    if words is not None:
        return words
    return error.strerror.lower() if error.strerror else str(error)

"""Files of other programs: read as they are, replaced whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

MARK: Final = "\ufeff"
"""What some editors begin a file with."""


class FileChanged(OSError):
    """A file is not what it was when it was read."""


class ForeignFile(NamedTuple):
    """A file and what was in it: `None` where there is none. A link leads to the file that is
    meant."""

    path: Path
    raw: bytes | None

    @property
    def text(self) -> str:
        """What is in it, without the mark at its begin; raises `UnicodeDecodeError`."""
        return "" if self.raw is None else self.raw.decode().removeprefix(MARK)

    def bytes_of(self, text: str) -> bytes:
        """A text as bytes of this file, with the mark that it began with."""
        marked = self.raw is not None and self.raw.startswith(MARK.encode())
        return f"{MARK if marked else ''}{text}".encode()


def read_foreign(path: Path) -> ForeignFile:
    """A file as it is."""
    path = path.resolve()
    try:
        return ForeignFile(path, path.read_bytes())
    except FileNotFoundError:
        return ForeignFile(path, None)


def write_foreign(file: ForeignFile, new: bytes | None, mode: int = 0o600) -> None:
    """Replace a file that was read, or remove it; its mode and owner stay, and a new one gets
    `mode`. Raises `FileChanged`, and leaves it, where it was changed since."""
    if new is None:
        _same(file)
        file.path.unlink(missing_ok=True)
        return
    there = None if file.raw is None else file.path.stat()
    beside = file.path.with_name(f"{file.path.name}.{os.urandom(4).hex()}.new")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    try:
        with open(os.open(beside, flags, 0o600), "wb") as sink:
            sink.write(new)
            if there is not None and (there.st_uid, there.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(sink.fileno(), there.st_uid, there.st_gid)
            os.fchmod(sink.fileno(), mode if there is None else there.st_mode & 0o7777)
            sink.flush()
            os.fsync(sink.fileno())
        _same(file)
        os.replace(beside, file.path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


def _same(file: ForeignFile) -> None:
    if read_foreign(file.path).raw != file.raw:
        raise FileChanged(0, "it was changed meanwhile", str(file.path))

"""Heads: how far a chain had come when it was last on the disk, sealed where there is a key."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from stanchion import typed
from stanchion.audit.layout import HEAD, HEAD_NEW

_FLAGS: Final = (
    os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)
_sync: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)


class Head(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A position in a chain that is on the disk, and the record that ends there."""

    chain: str
    segment: int
    offset: int
    seq: int
    hash: str
    closed: bool = msgspec.field(default=False)
    since: int | None = None
    """With which record the epoch began in which its record was written, where records bear
    macs."""
    seal: str = ""

    @property
    def text(self) -> str:
        """What its seal is made of."""
        since = "" if self.since is None else f":{self.since}"
        return (
            f"head:{self.chain}:{self.segment}:{self.offset}:{self.seq}:{self.hash}:"
            f"{int(self.closed)}{since}"
        )


def read_head(chain: Path) -> Head | None:
    """A chain's head; `None` where there is none that can be read."""
    try:
        return typed.decode((chain / HEAD).read_bytes(), Head)
    except (OSError, msgspec.MsgspecError):
        return None


def write_head(chain: Path, head: Head, seal: Callable[[str], str] | None) -> None:
    """Put a head in the place of the one before, at once or not at all."""
    if seal is not None:
        head = msgspec.structs.replace(head, seal=seal(head.text))
    # `closed` is always said: who reads the file should not have to know what it is where it is
    # missing.
    body = msgspec.json.encode(
        {**msgspec.to_builtins(head), "closed": head.closed}, order="deterministic"
    )
    new = chain / HEAD_NEW
    write_private(new, body + b"\n")
    os.replace(new, chain / HEAD)


def write_private(path: Path, data: bytes, new: bool = False) -> None:
    """Write a small file that only its owner can read, and bring it to the disk; a `new` one in the
    place of none."""
    file = os.open(path, _FLAGS | (os.O_EXCL if new else 0), 0o600)
    with open(file, "wb", buffering=0) as out:
        out.write(data)
        _sync(file)


def sync_folder(folder: Path) -> None:
    """Bring a folder's names to the disk, where the system can."""
    if os.name == "nt":
        return
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)

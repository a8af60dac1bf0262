"""Where a trail keeps what: chains, their segments, and the folder in which state is kept by
default."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import msgspec

from stanchion import typed
from stanchion.folders import user_state
from stanchion.kernel.regex import regex

STATE_DIR: Final = "STANCHION_STATE_DIR"
HEAD: Final = "head"
HEAD_NEW: Final = "head.new"
LOCK: Final = "lock"
DOUBT: Final = "doubt"

CHAIN: Final = regex(r"[0-9a-f]{16}")
SEGMENT: Final = regex(r"([0-9]{8})\.jsonl")
CUT: Final = regex(r"cut\.[0-9]{1,18}")


def state_folder(environ: Mapping[str, str]) -> Path:
    """The folder for state: what `STANCHION_STATE_DIR` names, or the user's own."""
    folder = environ.get(STATE_DIR, "")
    if not folder:
        folder = user_state()
    if not Path(folder).is_absolute():
        raise OSError(
            f"the state folder `{folder}` is not an absolute path: set {STATE_DIR} to one"
        )
    return Path(folder)


def chains(trail: Path) -> list[str]:
    """The chains of a trail, sorted by name; none where there is no such folder."""
    try:
        with os.scandir(trail) as entries:
            found = [
                e.name
                for e in entries
                if CHAIN.fullmatch(e.name) and e.is_dir(follow_symlinks=False)
            ]
            return sorted(found)
    except FileNotFoundError:
        return []


def segments(chain: Path) -> list[int]:
    """The numbers of a chain's segments, in order."""
    with os.scandir(chain) as entries:
        found = [
            SEGMENT.fullmatch(entry.name)
            for entry in entries
            if entry.is_file(follow_symlinks=False)
        ]
    return sorted(int(match[1]) for match in found if match is not None)


def segment_file(chain: Path, number: int) -> Path:
    """Where a segment is."""
    return chain / f"{number:08d}.jsonl"


# Heads: how far a chain had come when it was last on the disk, sealed where there is a key.

_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
_sync: Callable[[int], None] = getattr(os, "fdatasync", os.fsync)


class ChainHead(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
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


def read_head(chain: Path) -> ChainHead | None:
    """A chain's head; `None` where there is none that can be read."""
    try:
        return typed.decode((chain / HEAD).read_bytes(), ChainHead)
    except (OSError, msgspec.MsgspecError):
        return None


def write_head(chain: Path, head: ChainHead, seal: Callable[[str], str] | None) -> None:
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
    """Bring a folder's names to the disk."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)

"""The ratcheting key: replaced at every use by the next, so that one found later forges nothing
that came before."""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from stanchion import typed
from stanchion.audit.chain_lock import lock_waiting
from stanchion.audit.errors import TrailError
from stanchion.audit.heads import sync_folder, write_private
from stanchion.audit.keys import LEAST, Epoch, key_id, sealed
from stanchion.audit.macs import first_key

ALGORITHM: Final = "ratchet-sha256"
SEALS: Final = "seals a trail, and is replaced at every use: do not copy or move it"
VERIFIES: Final = "verifies a trail: keep it on another machine than the one that writes the trail"


class KeyFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file of a ratcheting key holds: what it is for, the key it began as, how often it was
    replaced, and the secret in hexadecimal digits."""

    stanchion: str
    id: str
    epoch: int
    secret: str


class RatchetKey:
    """A key file that is another one after every use. Whoever reads it can seal from then on, and
    nothing before."""

    def __init__(self, path: Path) -> None:
        # What a link names is replaced, and not the link: whoever names the file itself has the
        # next key as well.
        self._path = path.resolve()
        self._id = read_key(path).id

    def begin(self, chain: str, seq: int) -> Epoch:
        """Use the key up, and put the next into its place, on the disk, before anything is sealed
        with it."""
        with _held(self._path) as (found, replaced_by):
            secret = bytes.fromhex(found.secret)
            replaced_by(found.epoch + 1, next_secret(secret))
        name = f"{found.id}:{found.epoch}"
        sealing = seal_key(secret)
        return Epoch(
            name, first_key(secret, chain, seq), lambda text: sealed(ALGORITHM, name, sealing, text)
        )

    def fits(self, seal: str, text: str) -> bool | None:
        """Whether a seal names this key: what it was made with is forgotten."""
        algorithm, _, rest = seal.partition(":")
        return None if algorithm == ALGORITHM and rest.partition(":")[0] == self._id else False

    def again(self, chain: str, seq: int) -> None:
        """The keys of earlier epochs are forgotten."""


def next_secret(secret: bytes) -> bytes:
    """The secret of the next epoch."""
    return sha256(b"stanchion-ratchet:" + secret).digest()


def seal_key(secret: bytes) -> bytes:
    """What seals heads and checkpoints in an epoch."""
    return hmac.digest(secret, b"stanchion-seal", "sha256")


def make_key(path: Path, draw: Callable[[int], bytes] = os.urandom) -> Path:
    """Write a new ratcheting key into a file, and what verifies into another beside it; gives the
    other.

    `TrailError` where one of them is there already, or cannot be written.
    """
    if os.name == "nt":
        raise TrailError(
            "this system cannot replace a key while it is locked: use a shared secret or a pair of "
            "keys"
        )
    other = path.with_name(f"{path.name}.verify")
    if os.path.lexists(path):
        raise _there(path)
    secret = draw(LEAST)
    made = KeyFile(SEALS, key_id(secret), 0, secret.hex())
    try:
        # Of several who make one key at once, the first has both files.
        write_private(other, _encoded(msgspec.structs.replace(made, stanchion=VERIFIES)), new=True)
        try:
            write_private(path, _encoded(made), new=True)
        except OSError:
            other.unlink()
            raise
        sync_folder(path.parent)
    except FileExistsError as error:
        raise _there(error.filename) from None
    except OSError as error:
        raise TrailError(
            f"the key `{path}` cannot be written: {error.strerror}; use another place"
        ) from None
    return other


def _there(file: str | Path) -> TrailError:
    return TrailError(f"`{file}` already exists: use another file, or move this one away")


def read_key(path: Path) -> KeyFile:
    """What a key file holds; `TrailError` where it is no ratcheting key that seals."""
    return _decoded(path, content(path))


def content(path: Path) -> bytes:
    """The bytes of a key file; `TrailError` where it cannot be read. A ratcheting key is replaced
    and then overwritten: what was read of one that its path does not lead to any more may be
    nothing but zeros."""
    try:
        while True:
            with path.open("rb", buffering=0) as file:
                data = file.readall()
                if os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                    return data
    except OSError as error:
        raise TrailError(
            f"the audit key `{path}` cannot be read: {error.strerror}; give the path of a readable "
            f"key file"
        ) from None


def _decoded(path: Path, data: bytes) -> KeyFile:
    make = "make one with `stanchion audit key new FILE`"
    try:
        found = typed.decode(data, KeyFile)
        secret = bytes.fromhex(found.secret)
    except (msgspec.MsgspecError, ValueError):
        raise TrailError(f"the audit key `{path}` is not a key: {make}") from None
    if found.stanchion == VERIFIES:
        raise TrailError(
            f"the audit key `{path}` can only verify: give the file that seals, and keep this one "
            f"on another machine"
        )
    if found.stanchion != SEALS or len(secret) != LEAST or found.epoch < 0:
        raise TrailError(f"the audit key `{path}` is not a key: {make}")
    return found


@contextmanager
def _held(path: Path) -> Iterator[tuple[KeyFile, Callable[[int, bytes], None]]]:
    """A key file that no other process uses meanwhile, and what puts the next key into its
    place."""
    file = _locked(path)
    try:
        found = _decoded(path, _all(file))

        def replaced_by(epoch: int, secret: bytes) -> None:
            new = path.with_name(f"{path.name}.new")
            write_private(new, _encoded(KeyFile(SEALS, found.id, epoch, secret.hex())))
            os.replace(new, path)
            sync_folder(path.parent)
            # The name is another file's by now. What this one holds is not left on the disk for
            # others to find.
            os.pwrite(file, bytes(os.fstat(file).st_size), 0)
            os.fsync(file)

        yield found, replaced_by
    finally:
        os.close(file)


def _locked(path: Path) -> int:
    """The file that a path names, open and locked. Whoever had it may have replaced it meanwhile:
    then once more."""
    while True:
        file = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
        try:
            lock_waiting(file)
            if os.path.samestat(os.fstat(file), os.stat(path)):
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def _all(file: int) -> bytes:
    return os.pread(file, 1 << 16, 0)


def _encoded(key: KeyFile) -> bytes:
    return msgspec.json.encode(key) + b"\n"

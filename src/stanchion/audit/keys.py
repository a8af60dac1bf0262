"""Keys of a trail: a ratcheting key, a shared secret, or an Ed25519 pair whose public half only
verifies."""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from stanchion import typed
from stanchion.audit.errors import TrailError
from stanchion.audit.layout import sync_folder, write_private
from stanchion.kernel.tuples import NamedTuple
from stanchion.locks.files import lock

LEAST: Final = 32
"""How many bytes a shared secret has at least."""

HMAC: Final = "hmac-sha256"
ED25519: Final = "ed25519"

HEX: Final = frozenset(b"0123456789abcdefABCDEF")
"""The digits of a shared secret that is written in hexadecimal."""


class KeyEpoch(NamedTuple):
    """What one process has of a key, from a record of a chain on: how that record names it, the key
    of the record's mac, and what seals heads and checkpoints. The name is empty where records bear
    no macs."""

    name: str
    first: bytes
    seal: Callable[[str], str]


class TrailKey(Protocol):
    """Seals a trail, an epoch at a time, and tells what it can of what was sealed before."""

    def begin(self, chain: str, seq: int) -> KeyEpoch:
        """Begin an epoch with the record of that number; `OSError` where the key cannot be
        renewed."""

    def fits(self, seal: str, text: str) -> bool | None:
        """Whether a seal is this key's, for that text; `None` where it is, but an earlier epoch's,
        which nobody here can check any more."""

    def again(self, chain: str, seq: int) -> bytes | None:
        """The key of the mac with which an earlier epoch began; `None` where that is forgotten, or
        there was none."""


class SharedKey:
    """HMAC-SHA256: whoever can verify can also seal, all of it and at any time."""

    def __init__(self, secret: bytes) -> None:
        if len(secret) < LEAST:
            raise ValueError(
                f"a key of {len(secret)} bytes is too short: give at least {LEAST} random bytes"
            )
        if not any(secret):
            raise ValueError("it is all zeros, which anybody could guess: use random bytes")
        self._secret = secret
        self._id = key_id(secret)

    def begin(self, chain: str, seq: int) -> KeyEpoch:
        """Begin an epoch with the record of that number."""
        return KeyEpoch(f"{self._id}:0", first_key(self._secret, chain, seq), self.seal)

    def seal(self, text: str) -> str:
        """The seal of a text."""
        return sealed(HMAC, self._id, self._secret, text)

    def fits(self, seal: str, text: str) -> bool:
        """Whether a seal is this key's, for that text."""
        return hmac.compare_digest(seal.encode(), self.seal(text).encode())

    def again(self, chain: str, seq: int) -> bytes:
        """The key of the mac with which an earlier epoch began."""
        return first_key(self._secret, chain, seq)


class PairKey:
    """Ed25519: the writer has the private key, and whoever verifies needs the public one alone.
    Single records bear no
    mark: heads and checkpoints are signed."""

    def __init__(self, private: Any) -> None:
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        self._private = private
        self._public = private.public_key()
        self._prefix = (
            f"{ED25519}:{key_id(self._public.public_bytes(Encoding.Raw, PublicFormat.Raw))}:"
        )

    def begin(self, chain: str, seq: int) -> KeyEpoch:
        """Begin to seal; the key is the same at all times."""
        return KeyEpoch("", b"", self.seal)

    def seal(self, text: str) -> str:
        """The seal of a text."""
        signature: bytes = self._private.sign(text.encode())
        return self._prefix + signature.hex()

    def fits(self, seal: str, text: str) -> bool:
        """Whether a seal is this key's, for that text; the same text always gets the same seal."""
        return hmac.compare_digest(seal.encode(), self.seal(text).encode())

    def again(self, chain: str, seq: int) -> None:
        """Single records bear no mark."""


def sealed(algorithm: str, name: str, secret: bytes, text: str) -> str:
    """A seal made with a secret."""
    return f"{algorithm}:{name}:{hmac.new(secret, text.encode(), hashlib.sha256).hexdigest()}"


def key_id(material: bytes) -> str:
    """How seals name a key without giving it away."""
    return hashlib.sha256(b"stanchion-audit-key:" + material).hexdigest()[:16]


# Marks of single records: each is made with a key of its own, which is forgotten for the next.

_NEXT: Final = b"stanchion-next:"


def first_key(secret: bytes, chain: str, seq: int) -> bytes:
    """The key of the first record of an epoch, which has that number in its chain."""
    return hmac.digest(secret, f"stanchion-epoch:{chain}:{seq}".encode(), "sha256")


def mac_of(key: bytes, digest: str) -> str:
    """The mark of the record with that hash."""
    return hmac.digest(key, digest.encode(), "sha256").hex()


def next_key(key: bytes) -> bytes:
    """The key of the record behind; from it nobody gets back to this one."""
    return sha256(_NEXT + key).digest()


def later_key(key: bytes, count: int) -> bytes:
    """The key of the record that many behind."""
    for _ in range(count):
        key = next_key(key)
    return key


def is_mac(key: bytes, digest: str, mac: str) -> bool:
    """Whether a mark is that of the record with that hash."""
    return hmac.compare_digest(mac_of(key, digest), mac)


# The ratcheting key: replaced at every use by the next, so that one found later forges nothing that
# came before.

ALGORITHM: Final = "ratchet-sha256"
SEALS: Final = "seals a trail, and is replaced at every use: do not copy or move it"
VERIFIES: Final = "verifies a trail: keep it on another machine than the one that writes the trail"


class RatchetFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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

    def begin(self, chain: str, seq: int) -> KeyEpoch:
        """Use the key up, and put the next into its place, on the disk, before anything is sealed
        with it."""
        with _held(self._path) as (found, replaced_by):
            secret = bytes.fromhex(found.secret)
            replaced_by(found.epoch + 1, sha256(b"stanchion-ratchet:" + secret).digest())
        name = f"{found.id}:{found.epoch}"
        sealing = hmac.digest(secret, b"stanchion-seal", "sha256")
        return KeyEpoch(
            name, first_key(secret, chain, seq), lambda text: sealed(ALGORITHM, name, sealing, text)
        )

    def fits(self, seal: str, text: str) -> bool | None:
        """Whether a seal names this key: what it was made with is forgotten."""
        algorithm, _, rest = seal.partition(":")
        return None if algorithm == ALGORITHM and rest.partition(":")[0] == self._id else False

    def again(self, chain: str, seq: int) -> None:
        """The keys of earlier epochs are forgotten."""


def make_key(path: Path, draw: Callable[[int], bytes] = os.urandom) -> Path:
    """Write a new ratcheting key into a file, and what verifies into another beside it; gives the
    other.

    `TrailError` where one of them is there already, or cannot be written.
    """
    other = path.with_name(f"{path.name}.verify")
    if os.path.lexists(path):
        raise _there(path)
    secret = draw(LEAST)
    made = RatchetFile(SEALS, key_id(secret), 0, secret.hex())
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


def read_key(path: Path) -> RatchetFile:
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


def _decoded(path: Path, data: bytes) -> RatchetFile:
    make = "make one with `stanchion audit key new FILE`"
    try:
        found = typed.decode(data, RatchetFile)
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
def _held(path: Path) -> Iterator[tuple[RatchetFile, Callable[[int, bytes], None]]]:
    """A key file that no other process uses meanwhile, and what puts the next key into its
    place."""
    file = _locked(path)
    try:
        found = _decoded(path, os.pread(file, 1 << 16, 0))

        def replaced_by(epoch: int, secret: bytes) -> None:
            new = path.with_name(f"{path.name}.new")
            write_private(new, _encoded(RatchetFile(SEALS, found.id, epoch, secret.hex())))
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
        file = os.open(path, os.O_RDWR)
        try:
            lock(file, wait=True)
            if os.path.samestat(os.fstat(file), os.stat(path)):
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)


def _encoded(key: RatchetFile) -> bytes:
    return msgspec.json.encode(key) + b"\n"


# Key files of a trail: a ratcheting key, a shared secret, or an Ed25519 private key as PEM.


def load_key(path: Path) -> TrailKey:
    """Read a key file: a ratcheting key, at least 32 bytes as they are or as hexadecimal digits, or
    an Ed25519 private key as PEM."""
    data = content(path)
    if data.startswith(b"-----BEGIN"):
        return _pair(path, data)
    if data.startswith(b"{"):
        return RatchetKey(path)
    text = data.removesuffix(b"\n").removesuffix(b"\r")
    try:
        return SharedKey(bytes.fromhex(text.decode()) if text and HEX.issuperset(text) else data)
    except ValueError as error:
        raise TrailError(f"the audit key `{path}` cannot be used: {error}") from None


def _pair(path: Path, data: bytes) -> TrailKey:
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError:
        raise TrailError(
            f"the audit key `{path}` needs a package: install the extra `signing`"
        ) from None
    try:
        private = load_pem_private_key(data, None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise TrailError(f"the audit key `{path}` cannot be used: {error}") from None
    if not isinstance(private, Ed25519PrivateKey):
        raise TrailError(
            f"the audit key `{path}` is not an Ed25519 private key: make one with `openssl genpkey`"
        )
    return PairKey(private)

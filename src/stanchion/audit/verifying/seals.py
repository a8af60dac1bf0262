"""Keys, and whether a seal was made with one."""

from __future__ import annotations

import hmac
import json
import re
from binascii import Error as NotBase64, a2b_base64
from enum import Enum, auto
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

from .files import is_count
from .report import CannotVerify

SHORTEST: Final = 32
INSTALL: Final = "install the extra `signing`"

RATCHET: Final = "ratchet-sha256"
FURTHEST: Final = 10_000_000
"""How many epochs on from the one that a key is of another may be: working it out takes time."""

_SEAL: Final = re.compile(
    r"(?:hmac-sha256:[0-9a-f]{16}:[0-9a-f]{64}|ed25519:[0-9a-f]{16}:[0-9a-f]{128}"
    r"|ratchet-sha256:[0-9a-f]{16}:(?:0|[1-9][0-9]{0,8}):[0-9a-f]{64})"
)
_HEX: Final = re.compile(rb"(?:[0-9A-Fa-f]{2})*")
_PEM: Final = re.compile(rb"\s*-----BEGIN ([A-Z ]+)-----\s+([A-Za-z0-9+/=\s]+)-----END \1-----\s*")
_PUBLIC: Final = bytes.fromhex("302a300506032b6570032100")
_PRIVATE: Final = bytes.fromhex("302e020100300506032b657004220420")
_ED25519: Final = "cryptography.hazmat.primitives.asymmetric.ed25519"


class SealVerdict(Enum):
    """What is to be said of a seal, or of the mac of a record."""

    FITS = auto()
    MISSING = auto()
    NO_SEAL = auto()
    OTHER_KEY = auto()
    WRONG = auto()
    UNCHECKED = auto()
    EARLIER = auto()
    """It is of an epoch before the one that the key given can check."""


class SealKey(NamedTuple):
    """A key that checks seals: its algorithm, its bytes (of the public key for `ed25519`), its id,
    and for one that ratchets how often it was replaced before."""

    algorithm: str
    secret: bytes
    id: str
    epoch: int = 0

    def __repr__(self) -> str:
        return f"Key({self.algorithm}:{self.id})"

    @property
    def marks(self) -> bool:
        """Whether every record of a trail with this key bears a mac."""
        return self.algorithm != "ed25519"

    def secret_of(self, epoch: int) -> bytes | None:
        """The secret of an epoch, this one or a later one; None where there is no such epoch."""
        if self.algorithm != RATCHET:
            return self.secret if epoch == 0 else None
        return (
            _later(self.secret, epoch - self.epoch) if 0 <= epoch - self.epoch <= FURTHEST else None
        )

    def judge(self, seal: str | None, sealed: str) -> SealVerdict:
        """Say whether a seal was made with this key for that text."""
        if seal is None:
            return SealVerdict.MISSING
        if not looks_like_seal(seal):
            return SealVerdict.NO_SEAL
        algorithm, identity, *epoch, mark = seal.split(":")
        if (algorithm, identity) != (self.algorithm, self.id):
            return SealVerdict.OTHER_KEY
        if algorithm == "ed25519":
            return self._signed(mark, sealed)
        secret: bytes | None = self.secret
        if algorithm == RATCHET:
            if int(epoch[0]) < self.epoch:
                return SealVerdict.EARLIER
            secret = self.secret_of(int(epoch[0]))
            secret = None if secret is None else hmac.digest(secret, b"stanchion-seal", "sha256")
        if secret is None:
            return SealVerdict.WRONG
        fits = hmac.compare_digest(mark, hmac.new(secret, sealed.encode(), sha256).hexdigest())
        return SealVerdict.FITS if fits else SealVerdict.WRONG

    def _signed(self, mark: str, sealed: str) -> SealVerdict:
        try:
            ed25519: Any = import_module(_ED25519)
            invalid = import_module("cryptography.exceptions").InvalidSignature
        except ImportError:
            return SealVerdict.UNCHECKED
        try:
            ed25519.Ed25519PublicKey.from_public_bytes(self.secret).verify(
                bytes.fromhex(mark), sealed.encode()
            )
        except (invalid, ValueError):
            return SealVerdict.WRONG
        return SealVerdict.FITS


_reached: dict[bytes, tuple[int, bytes]] = {}
"""How far the epochs behind a secret were worked out last: along a chain they only rise."""


def _later(secret: bytes, count: int) -> bytes:
    """The secret that many epochs on."""
    done, found = _reached.get(secret, (0, secret))
    if done > count:
        done, found = 0, secret
    for _ in range(count - done):
        found = sha256(b"stanchion-ratchet:" + found).digest()
    _reached.clear()
    _reached[secret] = (count, found)
    return found


def looks_like_seal(seal: str) -> bool:
    """Whether a text has the form of a seal, whoever made it."""
    return _SEAL.fullmatch(seal) is not None


def key_from(given: bytes | str | Path) -> SealKey:
    """Make a key of a key file, or of the bytes that such a file holds."""
    if isinstance(given, bytes):
        return _key(given, "the key")
    try:
        return _key(Path(given).read_bytes(), f"`{given}`")
    except OSError as error:
        raise CannotVerify(f"cannot read the key file `{given}`: {error.strerror}") from None


def _key(content: bytes, name: str) -> SealKey:
    if b"-----BEGIN " in content:
        return _named("ed25519", _public(content, name))
    if content.startswith(b"{"):
        return _ratcheting(content, name)
    text = content.removesuffix(b"\n").removesuffix(b"\r")
    secret = bytes.fromhex(text.decode()) if _HEX.fullmatch(text) else content
    if len(secret) < SHORTEST:
        raise CannotVerify(
            f"{name} has {len(secret)} bytes: a key for hmac-sha256 has at least {SHORTEST}"
        )
    return _named("hmac-sha256", secret)


def _named(algorithm: str, secret: bytes) -> SealKey:
    return SealKey(algorithm, secret, sha256(b"stanchion-audit-key:" + secret).hexdigest()[:16])


def _ratcheting(content: bytes, name: str) -> SealKey:
    """A ratcheting key, as it began or as it is by now."""
    try:
        said = json.loads(content)
        secret, identity, epoch = bytes.fromhex(said["secret"]), said["id"], said["epoch"]
    except (ValueError, KeyError, TypeError):
        raise CannotVerify(
            f"{name} is not a key: give the file that `stanchion audit key new` made to verify"
        ) from None
    if len(secret) != SHORTEST or not is_count(epoch) or not isinstance(identity, str):
        raise CannotVerify(
            f"{name} is not a key: give the file that `stanchion audit key new` made to verify"
        )
    return SealKey(RATCHET, secret, identity, epoch)


def _public(content: bytes, name: str) -> bytes:
    """The 32 bytes of an ed25519 public key in a PEM file, which may hold the private one
    instead."""
    match = _PEM.fullmatch(content)
    try:
        encoded = a2b_base64(match[2]) if match else b""
    except NotBase64:
        encoded = b""
    if encoded.startswith(_PUBLIC) and len(encoded) == len(_PUBLIC) + 32:
        return encoded[len(_PUBLIC) :]
    if not encoded.startswith(_PRIVATE) or len(encoded) != len(_PRIVATE) + 32:
        raise CannotVerify(
            f"{name} is a PEM file without an ed25519 key: give the public key of the trail"
        )
    try:
        ed25519: Any = import_module(_ED25519)
    except ImportError:
        raise CannotVerify(
            f"{name} is a private key, which cannot be read here: {INSTALL}"
        ) from None
    public: bytes = (
        ed25519.Ed25519PrivateKey.from_private_bytes(encoded[-32:]).public_key().public_bytes_raw()
    )
    return public


# Marks of single records: whether each was made with the key that is forgotten behind it.

_EPOCH: Final = re.compile(r"([0-9a-f]{16}):(0|[1-9][0-9]{0,8})")


def epoch_of(said: str, key: SealKey) -> int | None:
    """The number of an epoch of this key; `None` where it is of another, or none."""
    match = _EPOCH.fullmatch(said)
    return None if match is None or match[1] != key.id else int(match[2])


class MacWalk:
    """Goes along a chain and judges the mac of each record, with the key from which all of them
    follow."""

    def __init__(self, key: SealKey, chain: str) -> None:
        self._key, self._chain = key, chain
        self._next: bytes | None = None
        self._why = SealVerdict.MISSING

    def judge(self, seq: int, digest: str, mac: str | None, epoch: str | None) -> SealVerdict:
        """Say whether the next record bears its mac; `epoch` is what it says of an epoch that
        begins with it."""
        if epoch is not None:
            self._begin(seq, epoch)
        if self._next is None:
            return self._why
        expected = hmac.digest(self._next, digest.encode(), "sha256").hex()
        self._next = sha256(b"stanchion-next:" + self._next).digest()
        if mac is None:
            return SealVerdict.MISSING
        return SealVerdict.FITS if hmac.compare_digest(mac, expected) else SealVerdict.WRONG

    def over_gap(self) -> None:
        """Records are not there: what stands behind them begins an epoch of its own, or cannot be
        judged."""
        self._next, self._why = None, SealVerdict.MISSING

    def _begin(self, seq: int, epoch: str) -> None:
        number = epoch_of(epoch, self._key)
        self._next = None
        if number is None:
            self._why = SealVerdict.OTHER_KEY
            return
        if number < self._key.epoch:
            self._why = SealVerdict.EARLIER
            return
        secret = self._key.secret_of(number)
        if secret is None:
            self._why = SealVerdict.WRONG
            return
        self._next = hmac.digest(secret, f"stanchion-epoch:{self._chain}:{seq}".encode(), "sha256")

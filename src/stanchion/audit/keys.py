"""Keys of a trail: a ratcheting key, a shared secret, or an Ed25519 pair whose public half only
verifies."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from typing import Any, Final, Protocol

from stanchion.audit.macs import first_key
from stanchion.kernel.tuples import NamedTuple

LEAST: Final = 32
"""How many bytes a shared secret has at least."""

HMAC: Final = "hmac-sha256"
ED25519: Final = "ed25519"

HEX: Final = frozenset(b"0123456789abcdefABCDEF")
"""The digits of a shared secret that is written in hexadecimal."""


class Epoch(NamedTuple):
    """What one process has of a key, from a record of a chain on: how that record names it, the key
    of the record's mac, and what seals heads and checkpoints. The name is empty where records bear
    no macs."""

    name: str
    first: bytes
    seal: Callable[[str], str]


class Key(Protocol):
    """Seals a trail, an epoch at a time, and tells what it can of what was sealed before."""

    def begin(self, chain: str, seq: int) -> Epoch:
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

    def begin(self, chain: str, seq: int) -> Epoch:
        """Begin an epoch with the record of that number."""
        return Epoch(f"{self._id}:0", first_key(self._secret, chain, seq), self.seal)

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

    def begin(self, chain: str, seq: int) -> Epoch:
        """Begin to seal; the key is the same at all times."""
        return Epoch("", b"", self.seal)

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

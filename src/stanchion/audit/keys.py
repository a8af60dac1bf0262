"""Keys that seal heads and checkpoints: a shared secret, or an Ed25519 pair whose public half only verifies."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path
from typing import Any, Final, Protocol

from stanchion.audit.errors import TrailError

LEAST: Final = 32
"""How many bytes a shared secret has at least."""

_HEX: Final = frozenset(b"0123456789abcdefABCDEF")


class Key(Protocol):
    """Seals texts, and tells whether a seal is its own."""

    def seal(self, text: str) -> str:
        """The seal of a text."""

    def fits(self, seal: str, text: str) -> bool:
        """Whether a seal is this key's, for that text."""


class SharedKey:
    """HMAC-SHA256: whoever can verify can also seal."""

    def __init__(self, secret: bytes) -> None:
        if len(secret) < LEAST:
            raise ValueError(f"a key of {len(secret)} bytes is too short: give at least {LEAST} random bytes")
        self._secret = secret
        self._prefix = f"hmac-sha256:{key_id(secret)}:"

    def seal(self, text: str) -> str:
        """The seal of a text."""
        return self._prefix + hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()

    def fits(self, seal: str, text: str) -> bool:
        """Whether a seal is this key's, for that text."""
        return hmac.compare_digest(seal.encode(), self.seal(text).encode())


class PairKey:
    """Ed25519: the writer has the private key, and whoever verifies needs the public one alone."""

    def __init__(self, private: Any) -> None:
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        self._private = private
        self._public = private.public_key()
        self._prefix = f"ed25519:{key_id(self._public.public_bytes(Encoding.Raw, PublicFormat.Raw))}:"

    def seal(self, text: str) -> str:
        """The seal of a text."""
        signature: bytes = self._private.sign(text.encode())
        return self._prefix + signature.hex()

    def fits(self, seal: str, text: str) -> bool:
        """Whether a seal is this key's, for that text; the same text always gets the same seal."""
        return hmac.compare_digest(seal.encode(), self.seal(text).encode())


def key_id(material: bytes) -> str:
    """How seals name a key without giving it away."""
    return hashlib.sha256(b"stanchion-audit-key:" + material).hexdigest()[:16]


def load_key(path: Path) -> Key:
    """Read a key file: at least 32 bytes as they are or as hexadecimal digits, or an Ed25519 private key as PEM."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TrailError(f"the audit key `{path}` cannot be read: {error.strerror}; name a file that can") from None
    if data.startswith(b"-----BEGIN"):
        return _pair(path, data)
    text = data.removesuffix(b"\n").removesuffix(b"\r")
    try:
        return SharedKey(bytes.fromhex(text.decode()) if text and _HEX.issuperset(text) else data)
    except ValueError as error:
        raise TrailError(f"the audit key `{path}` cannot be used: {error}") from None


def _pair(path: Path, data: bytes) -> Key:
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError:
        raise TrailError(f"the audit key `{path}` needs a package: install the extra `signing`") from None
    try:
        private = load_pem_private_key(data, None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise TrailError(f"the audit key `{path}` cannot be used: {error}") from None
    if not isinstance(private, Ed25519PrivateKey):
        raise TrailError(f"the audit key `{path}` is no Ed25519 private key: make one with `openssl genpkey`")
    return PairKey(private)

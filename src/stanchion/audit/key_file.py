"""Key files of a trail: a ratcheting key, a shared secret, or an Ed25519 private key as PEM."""

from __future__ import annotations

from pathlib import Path

from stanchion.audit.errors import TrailError
from stanchion.audit.keys import HEX, Key, PairKey, SharedKey
from stanchion.audit.ratchet import RatchetKey, content


def load_key(path: Path) -> Key:
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


def _pair(path: Path, data: bytes) -> Key:
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

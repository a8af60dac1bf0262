"""Operators' public keys: read from a line of OpenSSH, named by a fingerprint; and whether one has
signed something."""

from __future__ import annotations

import base64
import binascii
import hashlib
from functools import lru_cache
from typing import Final

import msgspec

from stanchion.approvals.errors import OperatorKeyError

P: Final = 2**255 - 19
D: Final = -121665 * pow(121666, -1, P) % P


@lru_cache(256)
def proves(raw: bytes) -> bool:
    """Whether a signature by this key can only come from who has its private half.

    Under a point of small order one signature fits many messages, and anybody can make it. Doubled
    three times such a point is the neutral one. The sign of x has no part in that, so that x² is
    enough and no root is drawn.
    """
    y = int.from_bytes(raw, "little") & (1 << 255) - 1
    if len(raw) != 32 or y >= P:
        return False
    square = _x_squared(y)
    if pow(square, (P - 1) // 2, P) == P - 1:
        return False
    for _ in range(3):
        square = _x_squared(y)
        y = (y * y + square) * pow(1 - D * square * y * y, -1, P) % P
    return y != 1


def _x_squared(y: int) -> int:
    """x² where `-x² + y² = 1 + D·x²·y²`."""
    return (y * y - 1) * pow(D * y * y + 1, -1, P) % P


NUMBER: Final = 4
"""How many bytes a number has."""


class Malformed(ValueError):
    """The bytes end too early, or go on where they should end."""


def number(value: int) -> bytes:
    """A number as it is sent."""
    return value.to_bytes(NUMBER, "big")


def string(data: bytes) -> bytes:
    """Bytes as they are sent: their length, then themselves."""
    return number(len(data)) + data


class PieceReader:
    """Reads pieces from bytes in their order; `Malformed` where there is no such piece."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, count: int) -> bytes:
        """The next so many bytes."""
        end = self._at + count
        if end > len(self._data):
            raise Malformed(
                f"{count} bytes are announced and {len(self._data) - self._at} are left"
            )
        taken = self._data[self._at : end]
        self._at = end
        return taken

    def number(self) -> int:
        """The next number."""
        return int.from_bytes(self.take(NUMBER), "big")

    def string(self) -> bytes:
        """The next byte string."""
        return self.take(self.number())

    def end(self) -> None:
        """Nothing may be left."""
        if self._at != len(self._data):
            raise Malformed(f"{len(self._data) - self._at} bytes are left over")


KIND: Final = "ssh-ed25519"

LONGEST: Final = 4096
"""How many characters a line has at most; one of Ed25519 has 80 and its comment."""

SIGNATURE: Final = 64
"""How many bytes a signature has."""

MAKE_ONE: Final = "make one with `ssh-keygen -t ed25519`"

NEEDED: Final = (
    "operators' keys need the extra `signing`: `pip install 'stanchion-guard[signing]'`, or from a "
    "checkout `pip install '.[signing]'`"
)


class PublicKey(msgspec.Struct, frozen=True):
    """The public half of an operator's key: its line without a comment, and its 32 bytes."""

    line: str
    raw: bytes

    @property
    def blob(self) -> bytes:
        """The key as SSH sends it."""
        return string(KIND.encode()) + string(self.raw)

    @property
    def fingerprint(self) -> str:
        """The key's name, as `ssh-keygen -l` shows it."""
        digest = hashlib.sha256(self.blob).digest()
        return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def public_of(text: str) -> PublicKey:
    """Read a public key as OpenSSH writes it: `ssh-ed25519 AAAA… comment`, on one line."""
    line = text.strip(" \t\r\n")
    if not line:
        raise OperatorKeyError("the public key is empty: give the line in a `.pub` file")
    if len(line) > LONGEST or "\n" in line or "\r" in line:
        raise OperatorKeyError(
            "that is more than one public key: give one line, as in a `.pub` file"
        )
    kind, _, rest = line.partition(" ")
    words = rest.split()
    if kind.startswith("-----"):
        raise OperatorKeyError(
            "that is not a public key: give the line in the `.pub` file, and keep the private key "
            "to yourself"
        )
    if kind != KIND:
        raise OperatorKeyError(
            f"the public key is of kind `{kind[:60]}`, and only `{KIND}` is accepted: {MAKE_ONE}"
        )
    if not words:
        raise OperatorKeyError(
            f"the public key ends after `{KIND}`: give the whole line in the `.pub` file"
        )
    try:
        blob = base64.b64decode(words[0].encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise OperatorKeyError(
            "the public key is not base64: give the line in the `.pub` file as it is"
        ) from None
    return of_blob(blob)


def of_blob(blob: bytes) -> PublicKey:
    """Read a public key as SSH sends it."""
    reader = PieceReader(blob)
    try:
        kind = reader.string()
        if kind != KIND.encode():
            shown = kind[:60].decode("ascii", "backslashreplace")
            raise OperatorKeyError(
                f"the key is of kind `{shown}`, and only `{KIND}` is accepted: {MAKE_ONE}"
            )
        raw = reader.string()
        reader.end()
    except Malformed as error:
        raise OperatorKeyError(
            f"the public key is truncated or damaged ({error}): give it as it is in its file"
        ) from None
    if not proves(raw):
        raise OperatorKeyError(
            f"the public key is a weak key, which does not prove who signed: {MAKE_ONE}"
        )
    return PublicKey(f"{KIND} {base64.b64encode(blob).decode()}", raw)


def verify(key: PublicKey, message: bytes, signature: bytes) -> bool:
    """Whether a signature is this key's, for that message."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise OperatorKeyError(NEEDED) from None
    if len(signature) != SIGNATURE or not proves(key.raw):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(key.raw).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True

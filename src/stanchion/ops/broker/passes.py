"""Passes: what a run is known by. A client keeps them, and only a broker with the same key can make
them."""

from __future__ import annotations

import hmac
import os
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from stanchion import typed
from stanchion.kernel.mandate import Mandate
from stanchion.kernel.units import Amounts

KEY_FILE: Final = "broker.key"
KEY_SIZE: Final = 32


class Passed(msgspec.Struct, frozen=True, array_like=True):
    """A run as it began: whose it is, in which life of the broker, and everything that its
    judgements depend on."""

    boot: str
    uid: int
    id: str
    agent: str
    role: str
    task: str
    tenant: str
    parents: tuple[str, ...]
    tools: tuple[str, ...]
    purse: str
    allotment: Amounts | None
    allotted_by: str
    allotted_for: str
    deadline_at_ms: int | None
    can: tuple[int, ...]
    carved: str
    risk: str = ""
    labels: tuple[tuple[str, str], ...] = ()
    may: Mandate | None = None


_encode = msgspec.msgpack.Encoder().encode
_decode = typed.unpacker(Passed).decode


class Passes:
    """Makes passes and tokens, and knows its own."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def token(self, uid: int, run: str) -> str:
        """What speaks for a run, for one user."""
        return self._signed(b"token", f"{uid}:{run}".encode()).hex()

    def is_token(self, given: str, uid: int, run: str) -> bool:
        """Whether somebody may speak for a run."""
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token(uid, run).encode())

    def sealed(self, passed: Passed) -> bytes:
        """A pass as a client keeps it."""
        body = _encode(passed)
        return self._signed(b"pass", body) + body

    def opened(self, sealed: bytes, uid: int) -> Passed | None:
        """What a pass says; `None` where it was not made with this key, or for another user."""
        signature, body = sealed[: sha256().digest_size], sealed[sha256().digest_size :]
        if not hmac.compare_digest(signature, self._signed(b"pass", body)):
            return None
        passed = _decode(body)
        return passed if passed.uid == uid else None

    def _signed(self, what: bytes, body: bytes) -> bytes:
        return hmac.digest(self._key, what + b"\0" + body, sha256().name)


def key_in(folder: Path) -> bytes:
    """The broker's key, made where there is none; `OSError` where it cannot be read or is none."""
    file = folder / KEY_FILE
    try:
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as made:
            made.write(os.urandom(KEY_SIZE))
            made.flush()
            os.fsync(made.fileno())
    except FileExistsError:
        pass
    key = file.read_bytes()
    if len(key) != KEY_SIZE:
        raise OSError(
            f"`{file}` is not the key of a broker: remove it, which ends the runs that are open now"
        )
    return key

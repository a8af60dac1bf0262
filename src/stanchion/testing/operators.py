"""Operators for tests: each has a key that lives as long as the test."""

from __future__ import annotations

from typing import Any

from stanchion.approvals.answerers import Signer
from stanchion.approvals.operators import Operator
from stanchion.approvals.public_key import PublicKey, public_of
from stanchion.kernel.autonomy import OPERATOR


class MemoryKey:
    """An Ed25519 key that is nowhere but in this process; needs the extra `signing`."""

    def __init__(self) -> None:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        self._private: Any = Ed25519PrivateKey.generate()
        line = self._private.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
        self.public: PublicKey = public_of(line.decode())

    def sign(self, message: bytes) -> bytes:
        """The signature of a message."""
        signature: bytes = self._private.sign(message)
        return signature


def operator(
    name: str = "ann", *roles: str, agents: tuple[str, ...] = (), agent: bool = False
) -> tuple[Signer, Operator]:
    """Somebody with a key: as they answer (`by=`), and as a shield knows them (`operators=`)."""
    key = MemoryKey()
    known = Operator(
        name=name,
        key=key.public.line,
        roles=roles if roles else (OPERATOR,),
        agents=agents,
        agent=agent,
    )
    return Signer(name, key), known

"""The operator of the demo, and an agent that would be one: keys that are good for nothing else."""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256
from importlib.util import find_spec
from typing import Any, Final

from stanchion.approvals.answerers import Signer
from stanchion.approvals.operators import Operator
from stanchion.approvals.public_key import PublicKey, public_of

CAN_SIGN: Final = find_spec("cryptography") is not None
"""Whether the extra `signing` is installed. Without it an operator is known, and cannot answer."""

SEED: Final = "the operator of the demo"
LINE: Final = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICr8nOrnjSbKVrt84o+VmIejgCobAPrgSABaCGmMKher"
"""The public half of the key that the seed gives."""

ANN: Final = Operator(name="ann", key=LINE)


class SeededKey:
    """A key that is the same in every demo, so that the trail is: everybody knows it, and no shield
    but the demo's takes it for anybody's."""

    def __init__(self, seed: str) -> None:
        self._seed = seed

    @cached_property
    def _private(self) -> Any:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(sha256(self._seed.encode()).digest())

    @cached_property
    def public(self) -> PublicKey:
        """Its public half."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        return public_of(
            self._private.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
        )

    def sign(self, message: bytes) -> bytes:
        """The signature of a message."""
        signature: bytes = self._private.sign(message)
        return signature


def ann() -> Signer:
    """The operator, who has the key."""
    return Signer("ann", SeededKey(SEED))


def impostor() -> Signer:
    """The agent under the operator's name, with a key of its own."""
    return Signer("ann", SeededKey("the agent"))

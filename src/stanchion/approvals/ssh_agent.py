"""Keys that an ssh-agent keeps: it signs, asks its user first where it was told so, and gives no
key away."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from typing import Final, NamedTuple

from stanchion.approvals.errors import OperatorKeyError
from stanchion.approvals.public_key import (
    KIND,
    NUMBER,
    Malformed,
    PieceReader,
    PublicKey,
    number,
    of_blob,
    string,
    verify,
)
from stanchion.kernel.shown import visible

SOCKET: Final = "SSH_AUTH_SOCK"

WAIT_S: Final = 120.0
"""How long an agent may take for an answer: it may ask a person."""

LARGEST: Final = 256 * 1024
"""How many bytes an answer has at most, as OpenSSH bounds it."""

LIST, LISTED = 11, 12
SIGN, SIGNED = 13, 14


class Identity(NamedTuple):
    """A key that an agent has, and the comment that it keeps with it."""

    key: PublicKey
    comment: str


class AgentKey:
    """An operator's key in an ssh-agent: the one at `socket_path`, or the one that `SSH_AUTH_SOCK`
    names."""

    def __init__(
        self, public: PublicKey, socket_path: Path | None = None, wait_s: float = WAIT_S
    ) -> None:
        self.public = public
        self._socket = socket_path
        self._wait_s = wait_s

    def sign(self, message: bytes) -> bytes:
        """The key's signature of a message; `OperatorKeyError` where the agent does not give one
        that fits."""
        body = bytes([SIGN]) + string(self.public.blob) + string(message) + number(0)
        kind, rest = _asked(self._socket, body, self._wait_s)
        if kind != SIGNED:
            raise OperatorKeyError(
                f"the ssh-agent did not sign: it does not have the key {self.public.fingerprint} "
                "(see `ssh-add -l`), or you declined"
            )
        try:
            signature = _signature(rest)
        except Malformed as error:
            raise OperatorKeyError(
                f"the ssh-agent's answer cannot be read ({error}): use another one"
            ) from None
        if not verify(self.public, message, signature):
            raise OperatorKeyError(
                "the ssh-agent gave a signature that does not match the key: use another one"
            )
        return signature


def identities(socket_path: Path | None = None, wait_s: float = WAIT_S) -> tuple[Identity, ...]:
    """The Ed25519 keys that an agent has; those of other kinds are left out."""
    kind, rest = _asked(socket_path, bytes([LIST]), wait_s)
    if kind != LISTED:
        raise OperatorKeyError(
            "the ssh-agent does not list its keys: unlock it with `ssh-add -X`, or use another one"
        )
    try:
        return tuple(_listed(rest))
    except Malformed as error:
        raise OperatorKeyError(
            f"the ssh-agent's answer cannot be read ({error}): use another one"
        ) from None


def _listed(rest: PieceReader) -> list[Identity]:
    found = []
    for _ in range(rest.number()):
        blob, comment = rest.string(), rest.string()
        try:
            key = of_blob(blob)
        except OperatorKeyError:
            continue
        found.append(Identity(key, visible(comment.decode("utf-8", "backslashreplace"))))
    rest.end()
    return found


def _signature(rest: PieceReader) -> bytes:
    inner = PieceReader(rest.string())
    rest.end()
    kind, signature = inner.string(), inner.string()
    inner.end()
    if kind != KIND.encode():
        raise Malformed("the signature is of another kind")
    return signature


def _asked(path: Path | None, body: bytes, wait_s: float) -> tuple[int, PieceReader]:
    """Ask the agent one thing: the kind of its answer, and what is in it."""
    named = os.environ.get(SOCKET, "") if path is None else str(path)
    if not named:
        raise OperatorKeyError(
            f"there is no ssh-agent: start one and set {SOCKET}, or use a key file"
        )
    if not hasattr(socket, "AF_UNIX"):
        raise OperatorKeyError(
            "an ssh-agent needs Unix sockets, which this system does not have: use a key file"
        )
    until = time.monotonic() + wait_s
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as agent:
            agent.settimeout(wait_s)
            agent.connect(named)
            agent.sendall(string(body))
            size = int.from_bytes(_exactly(agent, NUMBER, until), "big")
            if not 0 < size <= LARGEST:
                raise OperatorKeyError(
                    f"the ssh-agent announces an answer of {size} bytes, which is too long: use "
                    f"another one"
                )
            answer = _exactly(agent, size, until)
    except TimeoutError:
        raise OperatorKeyError(
            f"the ssh-agent at `{named}` did not answer within {wait_s:g} s: try again"
        ) from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise OperatorKeyError(
            f"the ssh-agent at `{named}` cannot be asked ({why}): start one with `ssh-agent`, or "
            f"use a key file"
        ) from None
    return answer[0], PieceReader(answer[1:])


def _exactly(agent: socket.socket, count: int, until: float) -> bytes:
    """The next so many bytes; an agent that sends them one by one gets no more time for it."""
    parts: list[bytes] = []
    while count:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        agent.settimeout(left)
        part = agent.recv(count)
        if not part:
            raise OperatorKeyError(
                "the ssh-agent closed the connection before its answer was complete: try again, or "
                "use another one"
            )
        parts.append(part)
        count -= len(part)
    return b"".join(parts)

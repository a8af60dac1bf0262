"""A witness that a broker keeps: it writes down the heads it is told, with its own time, where no
agent can reach."""

from __future__ import annotations

import os
import socket
import struct
from typing import Any, Final

from stanchion.audit.verifying.witness import Witness, read_witness
from stanchion.audit.witnessing.place import (
    OTHERS,
    PUT_BACK,
    Unreachable,
    WitnessEntry,
    WrittenLine,
    hash_of,
)
from stanchion.runtime.remote import messages as m
from stanchion.runtime.remote.broker_link import Wire, connected
from stanchion.runtime.remote.errors import BrokerLost

NAME: Final = "trail"
"""What a witness is called where nobody says."""

ANSWER_S: Final = 30.0

_CREDENTIALS: Final = struct.Struct("iII")


class BrokerPlace:
    """Tells a broker the heads, and asks it for what it has written."""

    def __init__(self, path: str, witness: str = NAME) -> None:
        self._path, self._witness = path, witness
        self.name = f"broker:{path}#{witness}"

    def append(self, entry: WitnessEntry) -> WrittenLine:
        """Have the broker write a line."""
        with _Talk(self._path, self.name) as talk:
            line = talk.asked(m.Witness(_new_id(), self._witness, entry.heads, entry.every_s))
            if not entry.mine or b'"prev":"%b"' % hash_of(entry.mine).encode() in line[:200]:
                return WrittenLine(line)
            held = entry.mine in self._all(talk).split(b"\n")
        return WrittenLine(line, OTHERS if held else PUT_BACK)

    def why_copy(self, uid: int | None) -> str:
        """Why a user could rewrite it: a broker of the same user keeps nothing from it."""
        if uid is None:
            return "this system does not say which user the broker runs as"
        with _Talk(self._path, self.name) as talk:
            whose = talk.uid()
        if uid == 0:
            return "root can rewrite what the broker keeps"
        return f"the broker runs as user {uid}, who owns the trail" if uid == whose else ""

    def witness(self, uid: int | None) -> Witness:
        """All lines that the broker has written for this user."""
        with _Talk(self._path, self.name) as talk:
            raw = self._all(talk)
        return read_witness(self.name, raw, self.why_copy(uid))

    def close(self) -> None:
        """Nothing is held between two lines."""

    def _all(self, talk: _Talk) -> bytes:
        found = bytearray()
        while piece := talk.asked(m.Witnessed(_new_id(), self._witness, len(found))):
            found += piece
        return bytes(found)


class _Talk:
    """One connection to a broker; whatever goes wrong with it is `Unreachable`."""

    def __init__(self, path: str, name: str) -> None:
        self._path, self._name = path, name
        self._wire: Wire | None = None

    def __enter__(self) -> _Talk:
        try:
            self._wire = connected(self._path)
        except BrokerLost as lost:
            raise Unreachable(f"`{self._name}` cannot be asked: {lost}") from None
        return self

    def __exit__(self, *_: object) -> None:
        if self._wire is not None:
            self._wire.close()

    def asked(self, request: m.Witness | m.Witnessed) -> bytes:
        """What the broker answers."""
        assert self._wire is not None
        try:
            reply: Any = self._wire.exchange(request, ANSWER_S)
        except BrokerLost as lost:
            raise Unreachable(f"`{self._name}` does not answer: {lost}") from None
        if isinstance(reply, m.Done) and isinstance(reply.value, bytes):
            return reply.value
        why = reply.text if isinstance(reply, m.Sorry | m.Misused) else "its answer is not valid"
        raise Unreachable(f"`{self._name}` refused: {why}")

    def uid(self) -> int:
        """The user that the broker runs as: the kernel says so."""
        assert self._wire is not None
        said = self._wire.option(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        return int(_CREDENTIALS.unpack(said)[1])


def _new_id() -> str:
    return os.urandom(8).hex()

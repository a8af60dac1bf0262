"""What goes between a host and the process of an isolated guard: events one way, answers the other,
as JSON.

A frame is four bytes that give its length, the mark of a question, and so many bytes. The host
draws a mark for each question, and an answer bears that of its own: what anybody else writes to the
channel, or wrote before, never fits. The standard library's JSON is used because it keeps what an
event may hold: whole numbers of any size, numbers that are not finite, halves of surrogate pairs.
"""

from __future__ import annotations

import json
import socket
import time
from typing import Any, Final

import msgspec

from stanchion import typed
from stanchion.kernel.context import Context
from stanchion.kernel.events import OF_STAGE, Event
from stanchion.kernel.findings import Finding
from stanchion.kernel.stages import Stage

HEAD: Final = 4
MARK: Final = 16
"""How many bytes the mark of a question has."""

LONGEST: Final = 16 << 20
"""How many bytes an answer may have."""


class AnswerTooLarge(Exception):
    """The process announced an answer that is longer than any may be."""


class AnswerUnreadable(Exception):
    """The process sent something that is no answer."""


class AnswerForeign(Exception):
    """The process sent something that does not belong to the question: it may be the answer to
    another one."""


class ProcessDied(Exception):
    """The process ended before it had answered."""


class OtherShape:
    """Stands for an answer that no guard may give, so that the guard fails on it as on the answer
    itself."""


class RaisedInside(msgspec.Struct, frozen=True):
    """Stands for an error that the code raised: nothing but the name of its type leaves the
    process."""

    name: str

    @property
    def error(self) -> Exception:
        """An error of the same name."""
        made: Exception = type(self.name, (Exception,), {})()
        return made


def event_sent(event: Event, context: Context | None = None) -> bytes:
    """An event as the process is sent it, with its context where the code there takes one."""
    return json.dumps(
        [event.stage.value, msgspec.to_builtins(event), msgspec.to_builtins(context)]
    ).encode()


def event_received(body: bytes) -> tuple[Event, Context | None]:
    """The event that was sent, and its context."""
    stage, fields, context = json.loads(body)
    return typed.convert(fields, OF_STAGE[Stage(stage)]), typed.convert(context, Context | None)


def answer_sent(value: Any) -> bytes:
    """What a guard's code answered, as the host is sent it."""
    match value:
        case None:
            said: list[Any] = ["passed"]
        case str():
            said = ["refused", str(value)]
        case Finding():
            said = ["found", msgspec.to_builtins(value)]
        case _:
            said = ["other"]
    return json.dumps(said).encode()


def raised_sent(error: BaseException) -> bytes:
    """That a guard's code raised; only the error's type leaves the process, its words may hold
    secrets."""
    return json.dumps(["raised", type(error).__name__]).encode()


def answer_received(body: bytes) -> Any:
    """What the code answered, or that it raised."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        raise AnswerUnreadable from None
    match said:
        case ["passed"]:
            return None
        case ["refused", str(text)]:
            return text
        case ["found", dict(fields)]:
            try:
                return typed.convert(fields, Finding)
            except msgspec.ValidationError:
                return OtherShape()
        case ["other"]:
            return OtherShape()
        case ["raised", str(name)] if name.isidentifier() and len(name) <= 200:
            return RaisedInside(name)
        case _:
            raise AnswerUnreadable


def send(channel: socket.socket, mark: bytes, body: bytes, until: float | None = None) -> None:
    """Send a frame; `TimeoutError` where it is not taken until then, by the monotonic clock."""
    channel.settimeout(_left(until))
    channel.sendall(len(body).to_bytes(HEAD, "big") + mark + body)


def received(channel: socket.socket) -> tuple[bytes, bytes]:
    """The next frame, however long it takes: its mark, and what it says."""
    length = int.from_bytes(_exactly(channel, HEAD, None), "big")
    return _exactly(channel, MARK, None), _exactly(channel, length, None)


def answer_to(mark: bytes, channel: socket.socket, until: float) -> bytes:
    """Receive the answer to a question. `TimeoutError` where it does not come until then,
    `AnswerTooLarge` where it is longer than any may be, `AnswerForeign` where it is not the answer
    to this question."""
    length = int.from_bytes(_exactly(channel, HEAD, until), "big")
    if length > LONGEST:
        raise AnswerTooLarge
    if _exactly(channel, MARK, until) != mark:
        raise AnswerForeign
    return _exactly(channel, length, until)


def _exactly(channel: socket.socket, count: int, until: float | None) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        channel.settimeout(_left(until))
        part = channel.recv(min(count - len(parts), 1 << 16))
        if not part:
            raise ProcessDied
        parts += part
    return bytes(parts)


def _left(until: float | None) -> float | None:
    if until is None:
        return None
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left

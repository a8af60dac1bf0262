"""The process of an isolated guard: takes one event after another, and answers what the guard's
code says of it."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from stanchion.policy.custom import answerer_of
from stanchion.runtime.answers.isolated.wire import (
    ProcessDied,
    answer_sent,
    event_received,
    raised_sent,
    received,
    send,
)
from stanchion.runtime.answers.pool import CONTEXT, STOP, takes

ORPHAN_S: Final = 5.0
"""So long after its deadline a question ends the process by itself: its host has gone, or it would
have done so."""


def main(call: str, deadline_ms: str) -> None:
    """Judge with the code at `call` until the host has gone."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())  # a host's thread may have had some blocked
    channel = socket.socket(fileno=os.dup(0))
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    with suppress(OSError):
        os.dup2(
            2, 1
        )  # what the code prints goes where errors go: a host's output may be somebody's protocol
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr] # it is the interpreter's own
    # A fork of it answers nobody, and does not keep the channel open when this process has ended.
    os.register_at_fork(after_in_child=channel.close)
    own = os.getpid()
    try:
        _serve(channel, call, int(deadline_ms) / 1000 + ORPHAN_S)
    except (ProcessDied, OSError):  # the host has gone
        pass
    finally:
        if os.getpid() == own:
            with suppress(OSError):
                os.killpg(own, signal.SIGKILL)  # itself, and what the code has left behind
        os._exit(0)  # whatever threads the code has started


def _serve(channel: socket.socket, call: str, limit_s: float) -> None:
    try:
        code = answerer_of("isolated", call)
        wanted = takes(code)
        begun = answer_sent(CONTEXT if CONTEXT in wanted else None)
    except BaseException as error:  # noqa: BLE001 - a user's module may do anything when it is imported
        mark, _ = received(channel)
        send(channel, mark, raised_sent(error))
        return
    mark, _ = received(channel)
    send(channel, mark, begun)
    while True:
        mark, body = received(channel)
        # Not a handler: the system ends the process, also while a call in C holds the interpreter.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, limit_s)
        answer = _answered(code, body, wanted)
        signal.setitimer(signal.ITIMER_REAL, 0)
        send(channel, mark, answer)


def _answered(code: Callable[..., Any], body: bytes, wanted: frozenset[str]) -> bytes:
    try:
        event, context = event_received(body)
        offered = {STOP: threading.Event(), CONTEXT: context}
        value = code(event, **{name: offered[name] for name in wanted})
        if hasattr(type(value), "__await__"):
            import asyncio

            value = asyncio.run(_awaited(value))
    except BaseException as error:  # noqa: BLE001 - whatever a user's code raises is its answer
        return raised_sent(error)
    try:
        return answer_sent(value)
    except (TypeError, ValueError, RecursionError):  # a finding that holds what is no data
        return answer_sent(...)


async def _awaited(value: Any) -> Any:
    return await value

"""Standard streams: of a server that is started as a process, with its log, and our own, on which
the client that has started us speaks."""

from __future__ import annotations

import logging
import os
import select
import signal
import stat
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, Final, TextIO

import anyio
import anyio.abc
import msgspec
from mcp_types import INVALID_REQUEST

from stanchion.hosts.mcp import pipes

LOG: Final = logging.getLogger("stanchion.mcp")
FLUSH_S: Final = 0.5
"""How long is waited for what was sent last to go out."""
END_S: Final = 2.0
"""How long a server may take to end: once its input is closed, once it is told to, and once it is
killed."""


@asynccontextmanager
async def started(
    words: list[str], env: Mapping[str, str], log: TextIO
) -> AsyncIterator[tuple[Any, Any]]:
    """Start a server; gives what is read from it and what is written to it. Raises `OSError`."""
    (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
    try:
        process = await anyio.open_process(
            words, stdin=theirs_in, stdout=theirs_out, stderr=log, env=env, start_new_session=True
        )
    except BaseException:
        os.close(ours_in)
        os.close(ours_out)
        raise
    finally:
        os.close(theirs_in)
        os.close(theirs_out)
    with anyio.CancelScope(shield=True):  # or else a process would be left that nobody knows of
        incoming = await pipes.reading(ours_in)
        outgoing = await pipes.writing(ours_out, incoming)
    try:
        yield incoming, outgoing
    finally:
        with anyio.CancelScope(shield=True):
            incoming.end()
            await outgoing.shut(FLUSH_S)
            await _ended(process)
            incoming.shut()


async def _ended(process: anyio.abc.Process) -> None:
    """Wait until a server has ended: by itself where it does, and otherwise with its whole
    group."""
    for sign in (None, signal.SIGTERM, signal.SIGKILL):
        if sign is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, sign)
        with anyio.move_on_after(END_S):
            await process.wait()
            return
    LOG.warning("the process %d of a server cannot be ended", process.pid)


LONGEST: Final = 65_536
"""How many bytes are read together at most."""
PAUSE_MS: Final = 50
"""Lines that come within so long of each other are read together: a secret may go over several of
them."""
LAST_LINES_S: Final = 0.5
"""How long is waited for the last lines of a server that has ended."""
WITHHELD: Final = "[lines of the server's log are withheld: they could not be read]\n"

Hide = Callable[[str], str]
"""Gives lines without the secrets in them."""


@contextmanager
def without_secrets(hide: Hide) -> Iterator[TextIO]:
    """What a server may write its log to; all of it goes on to our own standard error."""
    reads, writes = os.pipe()
    thread = threading.Thread(
        target=_pass_on, args=(reads, hide), name="stanchion-server-log", daemon=True
    )
    thread.start()
    try:
        with os.fdopen(writes, "w") as log:
            yield log
    finally:
        thread.join(LAST_LINES_S)


def _pass_on(reads: int, hide: Hide) -> None:
    for lines in _together(reads):
        try:
            shown = hide(lines)
        except Exception:  # noqa: BLE001 - lines that nobody has read are not passed on
            shown = WITHHELD
        sys.stderr.write(shown)
        sys.stderr.flush()


def _together(reads: int) -> Iterator[str]:
    """Whole lines, as many as come without a pause; a line that is too long for that in parts."""
    waiting, ready = b"", select.poll()
    ready.register(reads, select.POLLIN)
    with os.fdopen(reads, "rb", buffering=0) as log:
        while True:
            if waiting and (len(waiting) >= LONGEST or not ready.poll(PAUSE_MS)):
                whole, rest = _whole(waiting)
                if whole:
                    yield whole.decode(errors="backslashreplace")
                    waiting = rest
            came = log.read(LONGEST)
            if not came:
                break
            waiting += came
    if waiting:
        yield waiting.decode(errors="backslashreplace")


def _whole(waiting: bytes) -> tuple[bytes, bytes]:
    """The whole lines of what has come, and the rest; all of it where a line is too long."""
    lines, end, rest = waiting.rpartition(b"\n")
    if not end and len(waiting) >= LONGEST:
        return waiting, b""
    return lines + end, rest


CLIENT_FLUSH_S: Final = 2.0
"""How long a client may take to read what was said to it last."""


@asynccontextmanager
async def standard_streams() -> AsyncIterator[tuple[Any, Any]]:
    """What is read from the client and what is written to it. Whatever else reads standard input
    meanwhile finds its end, and what writes to standard output writes to our log: it must not come
    between messages."""
    if not _apart():
        from mcp.server.stdio import stdio_server

        async with stdio_server() as streams:  # a terminal or a file: whoever tries it out by hand
            yield streams
        return
    with _taken() as (descriptor_in, descriptor_out):
        incoming = await pipes.reading(descriptor_in)
        incoming.answers = outgoing = await pipes.writing(descriptor_out, incoming)
        try:
            yield incoming, outgoing
        finally:
            with anyio.CancelScope(shield=True):
                if incoming.trouble:
                    await _told(outgoing, incoming.trouble)
                await outgoing.shut(CLIENT_FLUSH_S)
                incoming.shut()


async def _told(outgoing: pipes.OutgoingPipe, trouble: str) -> None:
    """Tell a client why nothing more is read of what it sends."""
    LOG.error("the session with the client ends: %s", trouble)
    error = {
        "code": INVALID_REQUEST,
        "message": f"the session with the client ends: {trouble}; send less at once",
    }
    try:
        await outgoing.write(msgspec.json.encode({"jsonrpc": "2.0", "id": None, "error": error}))
    except anyio.BrokenResourceError:
        return


def _apart() -> bool:
    """Whether both are pipes or sockets, and not one and the same."""
    kinds = [os.fstat(descriptor) for descriptor in (0, 1)]
    able = all(stat.S_ISFIFO(each.st_mode) or stat.S_ISSOCK(each.st_mode) for each in kinds)
    return able and not os.path.samestat(*kinds)


@contextmanager
def _taken() -> Iterator[tuple[int, int]]:
    """Copies of both streams, which stand for something harmless until this ends; who takes the
    copies closes them."""
    copies, kept = (os.dup(0), os.dup(1)), (os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        yield copies
    finally:
        for number, copy in enumerate(kept):
            os.set_blocking(copy, True)
            os.dup2(copy, number)
            os.close(copy)

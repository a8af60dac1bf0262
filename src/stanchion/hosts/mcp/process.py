"""A server as a process: started for one client, and spoken to on its standard streams."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, TextIO

import anyio
import anyio.abc

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

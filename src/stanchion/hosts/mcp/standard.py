"""Our own standard streams, on which the client that has started us speaks."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

import anyio
import msgspec
from mcp_types import INVALID_REQUEST

from stanchion.hosts.mcp import pipes

LOG: Final = logging.getLogger("stanchion.mcp")
FLUSH_S: Final = 2.0
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
                await outgoing.shut(FLUSH_S)
                incoming.shut()


async def _told(outgoing: pipes.Outgoing, trouble: str) -> None:
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

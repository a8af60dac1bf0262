"""The connection of a request: where the relay of a client that keeps its connection is kept, and
when it ends."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

RELAY: Final = "stanchion"


class Unknown(RuntimeError):
    """The installed version of `mcp` is one that this proxy does not know."""


def _of(context: Any) -> Any:
    # The library hands no connection to its handlers, but keeps one behind each session.
    connection = getattr(context.session, "_connection", None)
    if (
        connection is None
        or not hasattr(connection, "state")
        or not hasattr(connection, "exit_stack")
    ):
        raise Unknown(
            "the installed version of `mcp` is not known here: install the extra `mcp` again"
        )
    return connection


def kept(context: Any) -> Any:
    """What is kept for the connection of a request."""
    return _of(context).state.get(RELAY)


def keep(context: Any, value: Any, close: Callable[[], Awaitable[None]]) -> None:
    """Keep something for a connection, and have it closed when that ends."""
    connection = _of(context)
    connection.state[RELAY] = value
    connection.exit_stack.push_async_callback(close)

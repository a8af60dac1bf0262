"""An ASGI app that serves a shield's figures to Prometheus."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from stanchion.telemetry.exposition import Collect, answer

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


def app(collect: Collect) -> App:
    """An app that answers on every path, so that it can be mounted anywhere:
    `app(shield.telemetry.collect)`. Files and the store are read in a thread, so that the event
    loop goes on."""

    async def served(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "http":
            import asyncio

            made = await asyncio.to_thread(answer, collect, str(scope["method"]), _accept(scope))
            headers = [
                (name.lower().encode("latin-1"), value.encode("latin-1"))
                for name, value in made.headers
            ]
            await send({"type": "http.response.start", "status": made.status, "headers": headers})
            await send({"type": "http.response.body", "body": made.body})
        else:
            raise ValueError(f"metrics are served over HTTP, not over `{scope['type']}`")

    return served


def _accept(scope: Message) -> str:
    return ", ".join(
        [value.decode("latin-1") for name, value in scope.get("headers", ()) if name == b"accept"]
    )


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return

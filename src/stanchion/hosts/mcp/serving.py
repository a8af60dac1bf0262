"""Serving the proxy: on standard streams for one client, or over streamable HTTP for many."""

from __future__ import annotations

import signal
from typing import Any, Final

import anyio

from stanchion.hosts.mcp.pipes import LONGEST
from stanchion.hosts.mcp.proxy import Proxy
from stanchion.hosts.mcp.streams import standard_streams

PATH: Final = "/mcp"


def serve_streams(proxy: Proxy) -> None:
    """Serve the one client at standard input and output, until it is gone or a signal comes."""
    anyio.run(_streams, proxy)


async def _streams(proxy: Proxy) -> None:
    async def serve() -> None:
        async with standard_streams() as (read, write):
            await proxy.server.run(read, write, proxy.server.create_initialization_options())
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve)
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            async for _ in signals:
                tasks.cancel_scope.cancel()
                return


def bounded(app: Any) -> Any:
    """An ASGI application that gets no body longer than a message may be: who sends a longer one
    is told so, and the rest of it is not read."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        body, message = bytearray(), dict[str, Any]()
        while scope["type"] == "http" and message.get("more_body", not message):
            message = await receive()
            body += message.get("body", b"")
            if len(body) > LONGEST:
                words = f"a message has at most {LONGEST >> 20} MiB".encode()
                headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
                await send({"type": "http.response.start", "status": 413, "headers": headers})
                await send({"type": "http.response.body", "body": words})
                return
        came = iter([{**message, "body": bytes(body)}] if message else [])

        async def again() -> Any:
            return next(came, None) or await receive()

        await app(scope, again, send)

    return answer


def serve_http(proxy: Proxy, host: str, port: int, *, ready: Any = None) -> None:
    """Serve clients over HTTP until a signal comes; `ready` is called with the address when they
    can come."""
    import uvicorn

    app = bounded(proxy.server.streamable_http_app(streamable_http_path=PATH, host=host))
    # No log of requests: their headers and addresses are nobody's business.
    config = uvicorn.Config(
        app, host=host, port=port, log_level="warning", access_log=False, lifespan="on"
    )
    server = uvicorn.Server(config)

    async def serve() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve)
            while not server.started and not server.should_exit:
                await anyio.sleep(0.01)
            if ready is not None and server.started:
                bound = server.servers[0].sockets[0].getsockname()
                ready(f"http://{host}:{bound[1]}{PATH}")

    anyio.run(serve)

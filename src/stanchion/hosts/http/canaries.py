"""Canaries of the HTTP clients: a request to a host that no policy allows has to be refused before
it leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Final

from stanchion.hosts.contract.canary import HOST, TOOL

URL: Final = f"http://{HOST}/"


def httpx_client(shield: Any, _body: Callable[[], str]) -> None:
    """A request by `httpx.Client`."""
    import httpx

    with (
        shield.run(agent=TOOL) as run,
        httpx.Client(transport=run.httpx_transport(tool=TOOL)) as client,
    ):
        client.get(URL)


def async_httpx_client(shield: Any, _body: Callable[[], str]) -> None:
    """A request by `httpx.AsyncClient`."""
    import httpx

    async def asked() -> None:
        run = shield.run(agent=TOOL)
        async with run, httpx.AsyncClient(transport=run.async_httpx_transport(tool=TOOL)) as client:
            await client.get(URL)

    asyncio.run(asked())


def requests_session(shield: Any, _body: Callable[[], str]) -> None:
    """A request by `requests.Session`."""
    with shield.run(agent=TOOL) as run, run.requests_session(tool=TOOL) as session:
        session.get(URL, timeout=5)


def aiohttp_session(shield: Any, _body: Callable[[], str]) -> None:
    """A request by `aiohttp.ClientSession`."""
    import aiohttp

    async def asked() -> None:
        run = shield.run(agent=TOOL)
        async with (
            run,
            aiohttp.ClientSession(connector=run.aiohttp_connector(tool=TOOL)) as session,
        ):
            await session.get(URL)

    asyncio.run(asked())

"""The four clients behind one face: a list of requests, sent one after the other by one client of a
run."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import aiohttp
import httpx
import requests

from stanchion.runtime.run import Run

PATIENCE_S = 30
TRUSTS_NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Spares every client of a test the loading of all authorities."""


class Ask(NamedTuple):
    """One request; `first` is called before it is sent. A list as `body` is sent as a stream of
    pieces."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = MappingProxyType({})
    body: bytes | list[bytes] | None = None
    first: Callable[[], Any] = lambda: None


Send = Callable[..., list[str]]
"""Sends requests with a client of a run, made with some options, and gives the texts of their
answers."""


def by_httpx(run: Run, *asks: Ask, **options: Any) -> list[str]:
    options = {"verify": TRUSTS_NOBODY, **options}
    with httpx.Client(
        transport=run.httpx_transport(**options), follow_redirects=True, timeout=PATIENCE_S
    ) as client:
        return [_by_httpx(client, ask) for ask in asks]


def _by_httpx(client: httpx.Client, ask: Ask) -> str:
    ask.first()
    body: Any = iter(ask.body) if isinstance(ask.body, list) else ask.body
    return client.request(ask.method, ask.url, headers=dict(ask.headers), content=body).text


def by_async_httpx(run: Run, *asks: Ask, **options: Any) -> list[str]:
    options = {"verify": TRUSTS_NOBODY, **options}

    async def sent() -> list[str]:
        transport = run.async_httpx_transport(**options)
        async with httpx.AsyncClient(
            transport=transport, follow_redirects=True, timeout=PATIENCE_S
        ) as client:
            answers = []
            for ask in asks:
                ask.first()
                body: Any = _pieces(ask.body) if isinstance(ask.body, list) else ask.body
                answers.append(
                    await client.request(
                        ask.method, ask.url, headers=dict(ask.headers), content=body
                    )
                )
            return [answer.text for answer in answers]

    return asyncio.run(sent())


def by_requests(run: Run, *asks: Ask, **options: Any) -> list[str]:
    verify, proxies = options.pop("verify", True), _proxies(options.pop("proxy", None))
    with run.requests_session(**options) as session:
        return [_by_requests(session, ask, verify, proxies) for ask in asks]


def _proxies(proxy: str | None) -> dict[str, str] | None:
    return None if proxy is None else {"http": proxy, "https": proxy}


def _by_requests(
    session: requests.Session, ask: Ask, verify: Any, proxies: dict[str, str] | None
) -> str:
    ask.first()
    body: Any = iter(ask.body) if isinstance(ask.body, list) else ask.body
    with session.request(
        ask.method,
        ask.url,
        headers=dict(ask.headers),
        data=body,
        timeout=PATIENCE_S,
        verify=verify,
        proxies=proxies,
    ) as answer:
        return answer.text


def by_aiohttp(run: Run, *asks: Ask, **options: Any) -> list[str]:
    verify, proxy = options.pop("verify", True), options.pop("proxy", None)

    async def sent() -> list[str]:
        connector = run.aiohttp_connector(**options)
        timeout = aiohttp.ClientTimeout(total=PATIENCE_S)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
            return [await by_session(session, ask, ssl=verify, proxy=proxy) for ask in asks]

    return asyncio.run(sent())


async def by_session(session: aiohttp.ClientSession, ask: Ask, **options: Any) -> str:
    """Send one request with a session of aiohttp."""
    ask.first()
    body: Any = _pieces(ask.body) if isinstance(ask.body, list) else ask.body
    async with session.request(
        ask.method, ask.url, headers=dict(ask.headers), data=body, **options
    ) as answer:
        return await answer.text()


async def _pieces(body: list[bytes]) -> AsyncIterator[bytes]:
    for piece in body:
        yield piece


CLIENTS: dict[str, Send] = {
    "httpx": by_httpx,
    "async_httpx": by_async_httpx,
    "requests": by_requests,
    "aiohttp": by_aiohttp,
}

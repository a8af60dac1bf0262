"""For whom a client sends: the tool at work, names in certificates, and packages that are not
there."""

from __future__ import annotations

import asyncio
import ssl
import sys
from collections.abc import AsyncIterator, Generator
from pathlib import Path

import aiohttp
import httpx
import pytest
import requests

from stanchion import Action, Refused
from stanchion.hosts.http.opening import NoClient
from stanchion.kernel.stages import Stage
from tests.hosts.http.clients import Ask, Send, by_aiohttp
from tests.hosts.http.policies import judged, shield
from tests.hosts.http.servers import Server, certified, serving
from tests.runtime.guards import says


def test_a_request_is_that_of_the_tool_at_work(send: Send, outside: Server) -> None:
    """The innermost one; where none is at work, the one that the client was made for."""
    here = shield(internal_hosts=["127.0.0.1"])
    run = here.run()
    ask = Ask(f"http://127.0.0.1:{outside.port}/")

    def fetch() -> list[str]:
        return send(run, ask, tool="client")

    def outer() -> list[str]:
        return [*run.call(fetch), *fetch()]

    assert run.call(outer) == ["ok", "ok"]
    fetch()
    assert [one.tool for one in judged(here)] == ["fetch", "outer", "client"]


def test_a_request_is_that_of_an_async_tool_at_work(outside: Server) -> None:
    """Tasks side by side do not mix their tools up."""
    here = shield(internal_hosts=["127.0.0.1"])
    run = here.run()

    async def get(kind: str) -> int:
        async with httpx.AsyncClient(transport=run.async_httpx_transport()) as client:
            return (await client.get(f"http://127.0.0.1:{outside.port}/{kind}")).status_code

    async def one() -> int:
        return await get("one")

    async def two() -> int:
        return await get("two")

    async def both() -> list[int]:
        return list(await asyncio.gather(run.acall(one), run.acall(two)))

    assert asyncio.run(both()) == [200, 200]
    assert {(one.tool, one.content["url"].rpartition("/")[2]) for one in judged(here)} == {
        ("one", "one"),
        ("two", "two"),
    }


def test_a_request_is_that_of_a_tool_that_yields(outside: Server) -> None:
    """While it makes an item, and not while the agent has one; also while it is closed."""
    here = shield(internal_hosts=["127.0.0.1"])
    run = here.run()
    url = f"http://127.0.0.1:{outside.port}/"

    def get(path: str) -> str:
        with run.requests_session() as session:
            return session.get(url + path).text

    def pages() -> Generator[str, None, None]:
        try:
            yield get("first")
            yield get("second")
        finally:
            get("last")

    found = run.call(pages)
    assert next(found) == "ok"
    get("between")
    assert next(found) == "ok"
    found.close()
    assert [(one.tool, one.content["url"].rpartition("/")[2]) for one in judged(here)] == [
        ("pages", "first"),
        ("", "between"),
        ("pages", "second"),
        ("pages", "last"),
    ]


def test_a_request_is_that_of_an_async_tool_that_yields(outside: Server) -> None:
    """The same for async ones."""
    here = shield(internal_hosts=["127.0.0.1"])
    run = here.run()

    async def get(path: str) -> str:
        async with httpx.AsyncClient(transport=run.async_httpx_transport()) as client:
            return (await client.get(f"http://127.0.0.1:{outside.port}/{path}")).text

    async def pages() -> AsyncIterator[str]:
        try:
            yield await get("first")
        finally:
            await get("last")

    async def all_of_them() -> None:
        found = run.acall(pages)
        assert await anext(found) == "ok"
        await get("between")
        await found.aclose()

    asyncio.run(all_of_them())
    assert [one.tool for one in judged(here)] == ["pages", "", "pages"]


def test_a_quarantine_isolates_the_tool_that_sent_it(outside: Server) -> None:
    """Other tools go on."""
    guard = says(Action.QUARANTINE, Stage.EGRESS, tools=frozenset({"bad"}))
    run = shield(guards=[guard], internal_hosts=["127.0.0.1"]).run()

    def bad() -> str:
        with run.requests_session() as session:
            return session.get(f"http://127.0.0.1:{outside.port}/").text

    def good() -> str:
        with run.requests_session() as session:
            return session.get(f"http://127.0.0.1:{outside.port}/").text

    with pytest.raises(Refused):
        run.call(bad)
    assert run.check("bad", {}).code == "kernel.quarantined"
    assert run.call(good) == "ok"
    assert len(outside.got) == 1


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for the name `secure.test`, which is its own authority, with its key."""
    return certified(tmp_path_factory.mktemp("tls"))


TLS_FAILED = (
    httpx.ConnectError,
    requests.exceptions.SSLError,
    aiohttp.ClientConnectorCertificateError,
)


def test_certificates_are_those_of_the_name(send: Send, certificate: Path) -> None:
    """The connection goes to an address, and the name is what is verified and asked for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    asked: list[str | None] = []
    context.sni_callback = lambda _socket, name, _context: asked.append(name)
    trusts = ssl.create_default_context(cafile=str(certificate))
    with serving(context) as server:
        names = {"secure.test": ["127.0.0.1"], "other.test": ["127.0.0.1"]}
        here = shield(names, internal_hosts=[f"127.0.0.1:{server.port}"])
        verify = str(certificate) if send.__name__ == "by_requests" else trusts
        url = f"https://secure.test:{server.port}/"
        assert send(here.run(), Ask(url), Ask(url), verify=verify) == ["ok", "ok"]
        assert asked == ["secure.test"]
        with pytest.raises(TLS_FAILED):
            send(here.run(), Ask(f"https://other.test:{server.port}/"), verify=verify)
        assert len(server.got) == 2


@pytest.mark.parametrize(
    ("package", "method"),
    [
        ("httpx", "httpx_transport"),
        ("httpx", "async_httpx_transport"),
        ("requests", "requests_adapter"),
        ("requests", "requests_session"),
        ("aiohttp", "aiohttp_connector"),
    ],
)
def test_a_package_that_is_missing_is_named(
    package: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what to do about it."""
    for name in [name for name in sys.modules if name.startswith("stanchion.hosts.http.")]:
        if package in name:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(NoClient, match=rf"install the extra `{package}`"):
        getattr(shield().run(), method)()


def test_a_refusal_is_no_error_of_the_network(outside: Server) -> None:
    """Code that tries again after errors of the network does not try this again."""
    run = shield().run()
    url = f"http://127.0.0.1:{outside.port}/"
    with run.requests_session() as session, pytest.raises(Refused) as refused:
        session.get(url)
    assert not isinstance(refused.value, OSError)
    with httpx.Client(transport=run.httpx_transport()) as client, pytest.raises(Refused) as refused:
        client.get(url)
    assert not isinstance(refused.value, httpx.HTTPError)
    with pytest.raises(Refused) as refused:
        by_aiohttp(run, Ask(url))
    assert not isinstance(refused.value, aiohttp.ClientError)

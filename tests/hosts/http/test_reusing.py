"""Connections that are kept: every request on one is judged, and it is left where its address was
not judged again."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import aiohttp
import httpx
import pytest

from stanchion import Refused
from tests.hosts.http.clients import PATIENCE_S, Ask, Send, by_session
from tests.hosts.http.policies import decided, shield
from tests.hosts.http.servers import Server


def test_each_request_on_a_kept_connection_is_judged(send: Send, outside: Server) -> None:
    """One connection, three requests, three decisions."""
    here = shield({"public.test": ["127.0.0.1"]}, internal_hosts=["127.0.0.1"])
    assert (
        send(here.run(), *[Ask(f"http://public.test:{outside.port}/{n}") for n in range(3)])
        == ["ok"] * 3
    )
    assert outside.connections == 1
    assert decided(here) == ["ALLOW"] * 3


def test_a_policy_that_has_changed_holds_on_a_kept_connection(send: Send, outside: Server) -> None:
    """The connection stands, the next request is refused all the same."""
    here = shield({"public.test": ["127.0.0.1"]}, internal_hosts=["127.0.0.1"])
    stricter = {
        "name": "http",
        "guards": [{"use": "egress", "internal_hosts": ["127.0.0.1"], "denied_hosts": ["*"]}],
    }
    url = f"http://public.test:{outside.port}/"
    with pytest.raises(Refused) as refused:
        send(here.run(), Ask(url), Ask(url, first=lambda: here.reload(stricter)))
    assert refused.value.decision.code == "egress.denied"
    assert len(outside.got) == 1


def test_a_connection_is_left_when_its_address_was_not_judged_again(
    send: Send, outside: Server
) -> None:
    """The name has moved: the request goes where it leads now, and back again over a connection
    that leads there."""
    now = ["127.0.0.1"]
    here = shield(lambda host, port: list(now), internal_hosts=["127.0.0.0/8"])
    url = f"http://moves.test:{outside.port}/"

    def moved(*addresses: str) -> None:
        now[:] = addresses

    asks = [
        Ask(url),
        Ask(url, first=lambda: moved("127.0.0.2", "127.0.0.1")),
        Ask(url, first=lambda: moved("127.0.0.2")),
        Ask(url, first=lambda: moved("127.0.0.3", "127.0.0.2")),
    ]
    assert send(here.run(), *asks) == ["ok"] * 4
    assert [got.at for got in outside.got] == ["127.0.0.1", "127.0.0.1", "127.0.0.2", "127.0.0.2"]
    assert outside.connections == 2


def test_names_on_one_address_do_not_share_a_connection(send: Send, outside: Server) -> None:
    """What was agreed on with one name holds for that name."""
    here = shield({"a.test": ["127.0.0.1"], "b.test": ["127.0.0.1"]}, internal_hosts=["127.0.0.1"])
    send(here.run(), Ask(f"http://a.test:{outside.port}/"), Ask(f"http://b.test:{outside.port}/"))
    assert outside.connections == 2


MANY = 40


def test_threads_share_a_client(outside: Server) -> None:
    """Of many requests through one client each goes where its own decision says."""
    names = {f"n{at}.test": [f"127.0.0.{at + 1}"] for at in range(4)}
    here = shield(names, internal_hosts=["127.0.0.0/8"])
    with httpx.Client(transport=here.run().httpx_transport(), timeout=PATIENCE_S) as client:

        def get(at: int) -> str:
            return client.get(f"http://n{at % 4}.test:{outside.port}/{at}").text

        with ThreadPoolExecutor(8) as threads:
            assert list(threads.map(get, range(MANY))) == ["ok"] * MANY
    _each_at_its_own(outside)
    assert len(decided(here)) == MANY


def test_threads_share_a_session(outside: Server) -> None:
    """The same for `requests`."""
    names = {f"n{at}.test": [f"127.0.0.{at + 1}"] for at in range(4)}
    here = shield(names, internal_hosts=["127.0.0.0/8"])
    with here.run().requests_session(pool_maxsize=8) as session:

        def get(at: int) -> str:
            return session.get(
                f"http://n{at % 4}.test:{outside.port}/{at}", timeout=PATIENCE_S
            ).text

        with ThreadPoolExecutor(8) as threads:
            assert list(threads.map(get, range(MANY))) == ["ok"] * MANY
    _each_at_its_own(outside)


def test_tasks_share_a_client(outside: Server) -> None:
    """The same for tasks of one event loop."""
    names = {f"n{at}.test": [f"127.0.0.{at + 1}"] for at in range(4)}
    here = shield(names, internal_hosts=["127.0.0.0/8"])

    async def all_of_them() -> list[str]:
        transport = here.run().async_httpx_transport(limits=httpx.Limits(max_connections=8))
        async with httpx.AsyncClient(transport=transport, timeout=PATIENCE_S) as client:
            asked = [client.get(f"http://n{at % 4}.test:{outside.port}/{at}") for at in range(MANY)]
            return [answer.text for answer in await asyncio.gather(*asked)]

    assert asyncio.run(all_of_them()) == ["ok"] * MANY
    _each_at_its_own(outside)


def test_tasks_share_a_connector(outside: Server) -> None:
    """The same for `aiohttp`."""
    names = {f"n{at}.test": [f"127.0.0.{at + 1}"] for at in range(4)}
    here = shield(names, internal_hosts=["127.0.0.0/8"])

    async def all_of_them() -> list[str]:
        async with aiohttp.ClientSession(
            connector=here.run().aiohttp_connector(limit=8)
        ) as session:
            urls = [f"http://n{at % 4}.test:{outside.port}/{at}" for at in range(MANY)]
            return await asyncio.gather(*[by_session(session, Ask(url)) for url in urls])

    assert asyncio.run(all_of_them()) == ["ok"] * MANY
    _each_at_its_own(outside)


def _each_at_its_own(server: Server) -> None:
    """Every request arrived at the address of its name."""
    assert len(server.got) == MANY
    for got in server.got:
        name = got.headers["host"].partition(".")[0]
        assert got.at == f"127.0.0.{int(name[1:]) + 1}"

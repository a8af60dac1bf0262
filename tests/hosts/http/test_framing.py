"""Framing: what is sent is the one request that was judged; no server reads another, or a second
one, out of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import aiohttp
import httpx
import pytest
import requests

from stanchion import Refused, Shield
from stanchion.testing import shield_for
from tests.hosts.http.clients import Ask, Send
from tests.hosts.http.policies import shield
from tests.hosts.http.servers import Server

SECOND = b"GET /second HTTP/1.1\r\nHost: inner.test\r\n\r\n"
"""What a server takes for its next request where it finds the end of a body before it."""


@pytest.fixture
def here(outside: Server) -> Shield:
    """A shield for requests to the server, by a name."""
    return shield({"public.test": ["127.0.0.1"]}, internal_hosts=[f"127.0.0.1:{outside.port}"])


def url(server: Server) -> str:
    return f"http://public.test:{server.port}/"


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"Transfer-Encoding": "chunked"}, b"0\r\n\r\n" + SECOND),
        ({"Transfer-Encoding": "chunked, identity"}, b"0\r\n\r\n" + SECOND),
        ({"Transfer-Encoding": "xchunked"}, b"0\r\n\r\n" + SECOND),
    ],
)
def test_a_body_is_sent_as_its_headers_say(
    send: Send, here: Shield, outside: Server, headers: dict[str, str], body: bytes
) -> None:
    """Otherwise its end is where the agent wants it to be."""
    with pytest.raises(Refused) as refused:
        send(here.run(), Ask(url(outside), "POST", headers, body))
    assert refused.value.decision.code == "http.framing"
    assert outside.connections == 0


def changed(
    here: Shield,
    server: Server,
    change: Callable[[requests.PreparedRequest], Any],
    body: Any = SECOND,
) -> str:
    """Send a request that somebody changes after `requests` has made it ready."""
    with here.run().requests_session() as session:
        ready = session.prepare_request(requests.Request("POST", url(server), data=body))
        change(ready)
        return session.send(ready).text


@pytest.mark.parametrize(
    "change",
    [
        lambda ready: ready.headers.update({"Content-Length": "0"}),
        lambda ready: ready.headers.update({"Content-Length": "+43"}),
        lambda ready: ready.headers.update({"Content-Length": "43, 43"}),
        lambda ready: ready.headers.update({"Host ": "inner.test"}),
        lambda ready: ready.headers.update({"Transfer-Encoding ": "chunked"}),
        lambda ready: ready.headers.update({"X-A": "b\r\nHost: inner.test"}),
        lambda ready: setattr(ready, "method", "GET /second HTTP/1.1\r\nX:"),
    ],
)
def test_a_request_that_is_changed_at_the_last_moment_is_looked_at_as_it_is_sent(
    here: Shield, outside: Server, change: Callable[[requests.PreparedRequest], Any]
) -> None:
    """Lengths that are none, names with blanks, lines in values."""
    with pytest.raises(Refused) as refused:
        changed(here, outside, change)
    assert refused.value.decision.code == "http.framing"
    assert outside.connections == 0


def test_a_length_that_does_not_belong_to_a_stream_is_refused(
    send: Send, here: Shield, outside: Server
) -> None:
    """The client would take the caller's word for it."""
    with pytest.raises(Refused) as refused:
        send(here.run(), Ask(url(outside), "POST", {"Content-Length": "0"}, [SECOND]))
    assert refused.value.decision.code == "http.framing"
    assert outside.connections == 0


def test_chunks_under_a_length_are_refused(here: Shield, outside: Server) -> None:
    """`aiohttp` sends chunks where it is told not to."""

    async def sent() -> None:
        async with aiohttp.ClientSession(connector=here.run().aiohttp_connector()) as session:
            await session.post(url(outside), data=SECOND, chunked=False)

    with pytest.raises(Refused) as refused:
        asyncio.run(sent())
    assert refused.value.decision.code == "http.framing"


def test_plain_requests_are_framed_plainly(send: Send, here: Shield, outside: Server) -> None:
    """With a length, in chunks, and without a body."""
    asks = [
        Ask(url(outside), "POST", body=SECOND),
        Ask(url(outside), "POST", body=[SECOND]),
        Ask(url(outside)),
    ]
    assert send(here.run(), *asks) == ["ok"] * 3
    assert [(got.path, got.body) for got in outside.got] == [
        ("/", SECOND),
        ("/", SECOND),
        ("/", b""),
    ]
    assert changed(here, outside, lambda ready: ready.headers.pop("Content-Length")) == "ok"
    assert outside.got[-1].body == SECOND


EXTENSIONS = [
    {"target": b"http://inner.test/admin"},
    {"target": b"/other?key=1"},
    {"sni_hostname": "inner.test"},
]


@pytest.mark.parametrize("extensions", EXTENSIONS)
def test_httpx_asks_for_what_the_url_says(
    here: Shield, outside: Server, extensions: dict[str, Any]
) -> None:
    """An extension that asks for something else is refused, and nobody is asked where the name
    leads."""

    async def sent() -> None:
        async with httpx.AsyncClient(transport=here.run().async_httpx_transport()) as client:
            await client.get(url(outside), extensions=extensions)

    with pytest.raises(Refused) as refused:
        asyncio.run(sent())
    assert refused.value.decision.code == "http.override"
    asked: list[str] = []
    other = shield(lambda host, _port: asked.append(host), internal_hosts=["127.0.0.1"])
    with (
        httpx.Client(transport=other.run().httpx_transport()) as client,
        pytest.raises(Refused) as refused,
    ):
        client.get(url(outside), extensions=extensions)
    assert refused.value.decision.code == "http.override"
    assert (asked, outside.connections) == ([], 0)


def test_an_extension_that_says_the_same_changes_nothing(here: Shield, outside: Server) -> None:
    """Some callers are thorough."""
    with httpx.Client(transport=here.run().httpx_transport()) as client:
        extensions = {"target": b"/a?b", "sni_hostname": "PUBLIC.test"}
        assert client.get(f"{url(outside)}a?b", extensions=extensions).text == "ok"


def test_aiohttp_asks_for_the_name_in_the_url(here: Shield, outside: Server) -> None:
    """A front that goes by the name in TLS would hand the request on to another host."""

    async def sent(name: str) -> str:
        async with aiohttp.ClientSession(connector=here.run().aiohttp_connector()) as session:
            answer = await session.get(url(outside), server_hostname=name)
            return await answer.text()

    with pytest.raises(Refused) as refused:
        asyncio.run(sent("inner.test"))
    assert refused.value.decision.code == "http.override"
    assert asyncio.run(sent("public.test")) == "ok"


def test_a_policy_in_shadow_mode_lets_framing_be(outside: Server) -> None:
    """It changes nothing at all."""
    here = shield_for({"name": "p", "mode": "shadow"})
    with httpx.Client(transport=here.run().httpx_transport()) as client:
        target = {"target": b"/other"}
        assert client.get(f"http://127.0.0.1:{outside.port}/", extensions=target).text == "ok"
    assert outside.got[0].path == "/other"


def test_what_is_refused_here_is_written_down_without_its_login(
    here: Shield, outside: Server
) -> None:
    """No guard was asked about it."""
    with (
        httpx.Client(transport=here.run().httpx_transport()) as client,
        pytest.raises(Refused) as refused,
    ):
        client.get(
            f"http://me:hunter2@public.test:{outside.port}/", extensions={"target": b"/other"}
        )
    assert refused.value.decision.code == "http.override"
    assert "hunter2" not in "".join([str(kept.read()) for kept in here.journal.kept()])

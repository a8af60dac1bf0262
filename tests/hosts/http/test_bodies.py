"""Bodies: whole ones are judged, those that are too long do not leave, and nobody reads on without
an end."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import pytest

from stanchion import Refused, Shield
from tests.hosts.http.clients import Ask, Send
from tests.hosts.http.policies import judged, shield
from tests.hosts.http.servers import Server


@pytest.fixture
def here(outside: Server) -> Shield:
    """A shield for requests to the server."""
    return shield(internal_hosts=[f"127.0.0.1:{outside.port}"])


@pytest.mark.parametrize("streamed", [False, True])
def test_a_body_that_is_too_long_does_not_leave(
    send: Send, here: Shield, outside: Server, streamed: bool
) -> None:
    """One byte more than can be judged is too much; the limit itself is not."""
    url = f"http://127.0.0.1:{outside.port}/"
    for body in (b"x" * 100, b"x" * 101):
        ask = Ask(url, "POST", body=[body[:60], body[60:]] if streamed else body)
        if len(body) == 100:
            assert send(here.run(), ask, max_body=100) == ["ok"]
            continue
        with pytest.raises(Refused) as refused:
            send(here.run(), ask, max_body=100)
        assert refused.value.decision.code == "http.too_long"
    assert [len(got.body) for got in outside.got] == [100]


def test_a_megabyte_is_the_limit_unless_another_is_given(
    send: Send, here: Shield, outside: Server
) -> None:
    """A client that is made for more sends more."""
    ask = Ask(f"http://127.0.0.1:{outside.port}/", "POST", body=[b"x" * 2**20, b"x"])
    with pytest.raises(Refused):
        send(here.run(), ask)
    assert send(here.run(), ask, max_body=2**21) == ["ok"]
    assert len(outside.got[0].body) == 2**20 + 1


def test_a_body_without_an_end_is_read_no_further_than_the_limit(
    here: Shield, outside: Server
) -> None:
    """A stream is asked for pieces until there are too many."""
    taken = []

    def endless() -> Iterator[bytes]:
        while True:
            taken.append(1)
            yield b"x" * 10

    url = f"http://127.0.0.1:{outside.port}/"
    with (
        httpx.Client(transport=here.run().httpx_transport(max_body=100)) as client,
        pytest.raises(Refused),
    ):
        client.post(url, content=endless())
    assert len(taken) == 11
    with here.run().requests_session(max_body=100) as session, pytest.raises(Refused):
        session.post(url, data=endless())
    assert len(taken) == 22
    assert outside.connections == 0


def test_an_async_body_without_an_end_is_read_no_further_than_the_limit(
    here: Shield, outside: Server
) -> None:
    """The same on an event loop."""
    taken = []

    async def endless() -> AsyncIterator[bytes]:
        while True:
            taken.append(1)
            yield b"x" * 10

    async def sent() -> None:
        url = f"http://127.0.0.1:{outside.port}/"
        async with httpx.AsyncClient(
            transport=here.run().async_httpx_transport(max_body=100)
        ) as client:
            with pytest.raises(Refused):
                await client.post(url, content=endless())
        async with aiohttp.ClientSession(
            connector=here.run().aiohttp_connector(max_body=100)
        ) as session:
            with pytest.raises(Refused):
                await session.post(url, data=endless())

    asyncio.run(sent())
    assert len(taken) == 22
    assert outside.connections == 0


def test_files_and_forms_are_judged_and_sent(here: Shield, outside: Server, tmp_path: Path) -> None:
    """What clients make of files and forms is read like any other body."""
    file = tmp_path / "note.txt"
    file.write_text("the note")
    url = f"http://127.0.0.1:{outside.port}/"
    with here.run().requests_session() as session:
        with file.open("rb") as opened:
            session.post(url, data=opened)
        session.post(url, files={"f": ("note.txt", io.BytesIO(b"the note"))})
        session.post(url, data={"a": "the note"})
    with httpx.Client(transport=here.run().httpx_transport()) as client:
        client.post(url, files={"f": ("note.txt", io.BytesIO(b"the note"))})
    asyncio.run(_by_aiohttp(here, url, file))
    payloads = [str(one.content["payload"]) for one in judged(here)]
    assert len(payloads) == len(outside.got) == 7
    for payload, got in zip(payloads, outside.got, strict=True):
        assert "the note" in payload.replace("+", " ")
        assert b"the note" in got.body.replace(b"+", b" ")


async def _by_aiohttp(here: Shield, url: str, file: Path) -> None:
    form = aiohttp.FormData()
    form.add_field("f", b"the note", filename="note.txt")
    bodies: list[Any] = [io.BytesIO(file.read_bytes()), form, {"a": "the note"}]
    async with aiohttp.ClientSession(connector=here.run().aiohttp_connector()) as session:
        for body in bodies:
            async with session.post(url, data=body) as answer:
                assert await answer.text() == "ok"


def test_json_and_packing_of_a_client_are_seen_through(here: Shield, outside: Server) -> None:
    """The body that `aiohttp` packs when it sends is judged as it was given."""

    async def sent() -> None:
        async with aiohttp.ClientSession(connector=here.run().aiohttp_connector()) as session:
            url = f"http://127.0.0.1:{outside.port}/"
            async with session.post(url, json={"a": [1, "x"]}, compress="deflate") as answer:
                assert await answer.text() == "ok"

    asyncio.run(sent())
    assert judged(here)[0].content["payload"] == {"a": [1, "x"]}
    assert outside.got[0].headers["content-encoding"] == "deflate"


def test_a_body_is_sent_again_after_a_redirect(send: Send, here: Shield) -> None:
    """Where the server wants it at another place, and that is judged too."""
    from tests.hosts.http.servers import serving

    with serving(status=307) as again:
        shielded = shield(internal_hosts=[f"127.0.0.1:{again.port}"])
        base = f"http://127.0.0.1:{again.port}"
        assert send(shielded.run(), Ask(f"{base}/to/{base}/end", "POST", body=b"the body")) == [
            "ok"
        ]
        assert [got.body for got in again.got] == [b"the body"] * 2

"""Redirects: wherever a server sends a client, each hop is judged, and nothing internal is
reached."""

from __future__ import annotations

import aiohttp
import httpx
import pytest
import requests

from stanchion import Refused, Shield
from tests.hosts.http.clients import Ask, Send
from tests.hosts.http.policies import shield
from tests.hosts.http.servers import Server

NOT_FOLLOWED = (
    Refused,
    httpx.HTTPError,
    httpx.InvalidURL,
    requests.RequestException,
    aiohttp.ClientError,
    ValueError,
)
"""A client refuses some by itself."""


def public(outside: Server) -> Shield:
    """A shield for requests to the server outside, by two names."""
    names = {"public.test": ["127.0.0.1"], "other.test": ["127.0.0.1"], "inner.test": ["127.0.0.1"]}
    return shield(names, internal_hosts=[f"127.0.0.1:{outside.port}"])


@pytest.mark.parametrize(
    "location",
    [
        "//127.0.0.1:{inner}/",
        "HTTP://127.0.0.1:{inner}/",
        "http://me:hunter2@127.0.0.1:{inner}/",
        "http://public.test:{outer}@127.0.0.1:{inner}/",
        "http://public.test:{outer}\\@127.0.0.1:{inner}/",
        "http://127.0.0.1:{inner}\\@public.test:{outer}/",
        "http://[::ffff:127.0.0.1]:{inner}/",
        "http://2130706433:{inner}/",
        "http://0x7f.1:{inner}/",
        "http://localhost:{inner}/",
        "http://inner.test:{inner}/",
        "http://127.0.0.1%00.public.test:{inner}/",
        "ws://127.0.0.1:{inner}/",
        "ftp://127.0.0.1:{inner}/",
        "gopher://127.0.0.1:{inner}/_x",
        "file:///etc/hostname",
        "javascript:alert(1)",
        "http://public.test:0/",
    ],
)
def test_a_hop_inside_is_not_made(
    send: Send, outside: Server, inside: Server, location: str
) -> None:
    """However it is written; and no password in it is written down or told."""
    outside.locations["/go"] = location.format(outer=outside.port, inner=inside.port)
    here = public(outside)
    with pytest.raises(NOT_FOLLOWED) as trouble:
        send(here.run(), Ask(f"http://public.test:{outside.port}/go"))
    assert [got.path for got in outside.got] == ["/go"]
    assert inside.connections == 0
    if isinstance(trouble.value, Refused):
        assert "hunter2" not in str(trouble.value)
    assert "hunter2" not in "".join([str(kept.read()) for kept in here.journal.kept()])


@pytest.mark.parametrize(
    "location",
    ["/end", "?end", "//other.test:{outer}/end", "http://public.test:{outer}#@10.0.0.1/"],
)
def test_a_hop_outside_is_made(send: Send, outside: Server, location: str) -> None:
    """Relative ones, too."""
    outside.locations["/go"] = location.format(outer=outside.port)
    assert send(public(outside).run(), Ask(f"http://public.test:{outside.port}/go")) == ["ok"]
    assert len(outside.got) == 2


def test_credentials_do_not_go_along_to_another_host(send: Send, outside: Server) -> None:
    """Clients leave them out, also with the transports of a run."""
    outside.locations["/go"] = f"http://other.test:{outside.port}/end"
    headers = {"Authorization": "Bearer me", "Cookie": "me=1"}
    send(public(outside).run(), Ask(f"http://public.test:{outside.port}/go", headers=headers))
    first, second = outside.got
    assert (first.headers["authorization"], first.headers["cookie"]) == ("Bearer me", "me=1")
    assert {"authorization", "cookie"}.isdisjoint(second.headers)


def test_redirects_in_a_circle_come_to_an_end(send: Send, outside: Server) -> None:
    """Every round is judged."""
    outside.locations["/go"] = "/go"
    here = public(outside)
    with pytest.raises(
        (httpx.TooManyRedirects, requests.TooManyRedirects, aiohttp.TooManyRedirects)
    ):
        send(here.run(), Ask(f"http://public.test:{outside.port}/go"))
    assert len(here.journal.kept()) >= len(outside.got) > 5

"""Proxies: those of the environment are not used, one that is not listed is refused, a listed one
is used."""

from __future__ import annotations

from typing import Any

import aiohttp
import httpx
import pytest
import requests

from stanchion import Refused
from stanchion.testing import shield_for
from tests.hosts.http.clients import Ask, Send, by_session
from tests.hosts.http.policies import decided, shield
from tests.hosts.http.servers import Server, serving

VARIABLES = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")


@pytest.fixture
def environment(inside: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """A proxy that every variable of the environment names."""
    for name in VARIABLES:
        monkeypatch.setenv(name, f"http://127.0.0.1:{inside.port}")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    return inside


def test_proxies_of_the_environment_are_not_used(
    send: Send, outside: Server, environment: Server
) -> None:
    """A proxy resolves names itself: what was judged would not be what is reached."""
    here = shield({"public.test": ["127.0.0.1"]}, internal_hosts=[f"127.0.0.1:{outside.port}"])
    assert send(here.run(), Ask(f"http://public.test:{outside.port}/")) == ["ok"]
    assert (outside.connections, environment.connections) == (1, 0)


def test_a_proxy_that_is_not_listed_is_refused(send: Send, outside: Server, inside: Server) -> None:
    """Nothing is sent to it, nor to the host behind it."""
    here = shield(
        {"public.test": ["127.0.0.1"]}, internal_hosts=["127.0.0.1"], proxies=["proxy.test:3128"]
    )
    with pytest.raises(Refused) as refused:
        send(
            here.run(),
            Ask(f"http://public.test:{outside.port}/"),
            proxy=f"http://u:pw@127.0.0.1:{inside.port}",
        )
    assert refused.value.decision.code == "http.proxy"
    assert "pw" not in str(refused.value)
    assert (outside.connections, inside.connections) == (0, 0)


def test_a_listed_proxy_gets_the_request(send: Send, outside: Server) -> None:
    """The name is resolved and judged here all the same."""
    here = shield({"public.test": ["93.184.215.14"]}, proxies=[f"127.0.0.1:{outside.port}"])
    assert send(
        here.run(), Ask("http://public.test/page"), proxy=f"http://127.0.0.1:{outside.port}"
    ) == ["ok"]
    assert outside.got[0].path == "http://public.test/page"
    assert decided(here) == ["ALLOW"]


def test_what_leads_inside_does_not_get_to_a_listed_proxy(send: Send, outside: Server) -> None:
    """Neither as a literal nor by a name."""
    here = shield({"inner.test": ["10.0.0.7"]}, proxies=[f"127.0.0.1:{outside.port}"])
    for url in ("http://10.0.0.7/", "http://inner.test/"):
        with pytest.raises(Refused) as refused:
            send(here.run(), Ask(url), proxy=f"http://127.0.0.1:{outside.port}")
        assert refused.value.decision.code == "egress.internal"
    assert outside.connections == 0


def test_a_redirect_by_way_of_a_proxy_is_judged(send: Send) -> None:
    """The proxy is asked for the first hop only."""
    with serving() as proxy:
        here = shield({"public.test": ["93.184.215.14"]}, proxies=[f"127.0.0.1:{proxy.port}"])
        with pytest.raises(Refused):
            send(
                here.run(),
                Ask("http://public.test/to/http://10.0.0.7/"),
                proxy=f"http://127.0.0.1:{proxy.port}",
            )
        assert len(proxy.got) == 1


def test_a_policy_in_shadow_mode_lets_proxies_be(send: Send, outside: Server) -> None:
    """It changes nothing at all."""
    here = shield_for({"name": "p", "mode": "shadow", "guards": [{"use": "egress"}]})
    assert send(
        here.run(), Ask("http://public.test/"), proxy=f"http://127.0.0.1:{outside.port}"
    ) == ["ok"]


def test_a_session_that_trusts_the_environment_is_refused(
    outside: Server, environment: Server
) -> None:
    """The adapter alone cannot tell where a proxy comes from."""
    here = shield({"public.test": ["127.0.0.1"]}, internal_hosts=["127.0.0.1"])
    with requests.Session() as session:
        session.mount("http://", here.run().requests_adapter())
        with pytest.raises(Refused) as refused:
            session.get(f"http://public.test:{outside.port}/")
    assert refused.value.decision.code == "http.proxy"
    assert (outside.connections, environment.connections) == (0, 0)


async def _trusting(run: Any, url: str) -> str:
    async with aiohttp.ClientSession(connector=run.aiohttp_connector(), trust_env=True) as session:
        return await by_session(session, Ask(url))


def test_an_aiohttp_session_that_trusts_the_environment_is_refused(
    outside: Server, environment: Server
) -> None:
    """The same for `aiohttp`."""
    import asyncio

    here = shield({"public.test": ["127.0.0.1"]}, internal_hosts=["127.0.0.1"])
    with pytest.raises(Refused) as refused:
        asyncio.run(_trusting(here.run(), f"http://public.test:{outside.port}/"))
    assert refused.value.decision.code == "http.proxy"
    assert (outside.connections, environment.connections) == (0, 0)


def test_what_leads_round_the_judgement_cannot_be_asked_for() -> None:
    """Sockets and resolvers of the caller's own."""
    run = shield().run()
    with pytest.raises(ValueError, match="`uds`"):
        run.httpx_transport(uds="/run/docker.sock")  # type: ignore[call-arg]  # the mistake is what is tested
    with pytest.raises(ValueError, match="`resolver`"):
        run.aiohttp_connector(resolver=None)  # type: ignore[call-arg]  # the mistake is what is tested
    with pytest.raises(ValueError, match="max_body"):
        run.requests_adapter(max_body=-1)
    with httpx.Client(transport=run.httpx_transport(max_body=0)) as client:
        assert client.trust_env

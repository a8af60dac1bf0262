"""The guardrail in LiteLLM's own proxy, which runs as a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("litellm.proxy.proxy_server")

from tests.hosts.clients.provider import Provider, Say
from tests.hosts.clients.shields import GONE, KEY, LEAKS
from tests.hosts.litellm.proxies import Proxy
from tests.rules import rule

POLICY: dict[str, Any] = {
    "name": "proxy",
    "guards": [
        {"use": "secrets"},
        {"use": "budget", "calls": 3},
        rule("no", "model_call", when="event.model == 'forbidden'", action="block"),
    ],
}
SAID = [{"role": "user", "content": f"is it {KEY}?"}]
REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "chat": ("/v1/chat/completions", {"messages": SAID}),
    "responses": ("/v1/responses", {"input": f"is it {KEY}?", "instructions": f"hide {KEY}"}),
    "messages": ("/v1/messages", {"messages": SAID, "system": f"hide {KEY}", "max_tokens": 50}),
}
OPTED_OUT = {
    "guardrails": [],
    "disable_global_guardrails": True,
    "metadata": {"disable_global_guardrails": True},
}


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider([Say(LEAKS)]) as made:
        yield made


@pytest.fixture(scope="module")
def proxy(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    with Proxy(tmp_path_factory.mktemp("proxy"), provider.url, POLICY) as made:
        yield made


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", REQUESTS)
def test_requests_and_replies_are_redacted(
    proxy: Proxy, provider: Provider, kind: str, stream: bool
) -> None:
    path, body = REQUESTS[kind]
    status, said = proxy.post(path, {"model": "fake", "stream": stream, **body})
    assert status == 200, said
    assert KEY not in said
    assert KEY[20:] not in said
    assert GONE in said
    assert KEY not in str(provider.asked[-1].body)
    assert GONE in str(provider.asked[-1].body)


def test_no_request_switches_the_guardrail_off(proxy: Proxy, provider: Provider) -> None:
    status, said = proxy.post(
        "/v1/chat/completions", {"model": "fake", "messages": SAID, **OPTED_OUT}
    )
    assert (status, KEY in said, KEY in str(provider.asked[-1].body)) == (200, False, False)


def test_embeddings_are_judged(proxy: Proxy, provider: Provider) -> None:
    proxy.post("/v1/embeddings", {"model": "fake", "input": f"it is {KEY}"})
    assert provider.asked[-1].body["input"] == f"it is {GONE}"


def test_a_refused_request_is_answered_and_not_sent(proxy: Proxy, provider: Provider) -> None:
    sent = len(provider.asked)
    status, said = proxy.post("/v1/chat/completions", {"model": "forbidden", "messages": SAID})
    assert status == 400
    assert "a rule of the policy forbids this" in said
    assert len(provider.asked) == sent


def test_requests_of_a_session_are_one_run(proxy: Proxy) -> None:
    def asked(session: str) -> int:
        body = {"model": "fake", "messages": SAID, "litellm_session_id": session}
        return proxy.post("/v1/chat/completions", body)[0]

    assert [asked("one") for _ in range(4)] == [200, 200, 200, 400]
    assert asked("two") == 200

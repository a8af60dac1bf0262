"""LiteLLM's functions for a run, and why it is the functions that are guarded."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("litellm")

import litellm
from litellm.integrations.custom_logger import CustomLogger

from stanchion import Refused
from stanchion.hosts.litellm import guard
from tests.hosts.clients.provider import Provider, Say
from tests.hosts.clients.shields import (
    GONE,
    HELLO,
    KEY,
    LEAKS,
    SAFE,
    budgeted,
    counted,
    redacting,
    refusing,
)
from tests.hosts.litellm.driver import options

pytestmark = pytest.mark.filterwarnings(
    "ignore"
)  # of LiteLLM's own models, and of clients that it never closes


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider([Say(LEAKS)]) as made:
        yield made


def test_a_callback_of_the_library_cannot_refuse(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refuses(CustomLogger):
        def log_pre_api_call(self, model: Any, messages: Any, kwargs: Any) -> None:
            raise PermissionError("this must not be sent")

    monkeypatch.setattr(litellm, "callbacks", [Refuses()])
    litellm.completion(**options(provider), messages=HELLO)
    assert len(provider.asked) == 1


def test_requests_and_replies_are_redacted_in_their_type(provider: Provider) -> None:
    with redacting().run("ann") as run:
        llm = guard(run)
        reply = llm.completion(
            **options(provider), messages=[{"role": "user", "content": f"is it {KEY}?"}]
        )
        assert isinstance(reply, litellm.ModelResponse)
        assert reply.choices[0].message.content == SAFE
        assert provider.asked[0].body["messages"][0]["content"] == f"is it {GONE}?"
        response = llm.responses(f"is it {KEY}?", **options(provider))
        assert response.output[0].content[0].text == SAFE
        assert provider.asked[1].body["input"] == f"is it {GONE}?"


def test_streams(provider: Provider) -> None:
    async def play() -> str:
        async with redacting().run("ann") as run:
            chunks = await guard(run).acompletion(**options(provider), messages=HELLO, stream=True)
            return "".join([chunk.choices[0].delta.content or "" async for chunk in chunks])

    with redacting().run("ann") as run:
        chunks = guard(run).completion(**options(provider), messages=HELLO, stream=True)
        assert "".join([chunk.choices[0].delta.content or "" for chunk in chunks]) == SAFE
    assert asyncio.run(play()) == SAFE


def test_refusals_are_raised_and_nothing_is_sent(provider: Provider) -> None:
    with refusing().run("ann") as run:
        llm = guard(run)
        with pytest.raises(Refused):
            llm.completion(**options(provider), messages=[{"role": "user", "content": KEY}])
        with pytest.raises(Refused):
            llm.embedding(**options(provider), input=[KEY])
        with pytest.raises(Refused):
            asyncio.run(
                llm.acompletion(**options(provider), messages=[{"role": "user", "content": KEY}])
            )
    assert provider.asked == []


def test_retries_are_one_call() -> None:
    shield = budgeted(tokens=1_000_000, calls=5)
    with Provider(500, [Say(["fine"])]) as provider, shield.run("ann", "task") as run:
        guard(run).completion(**{**options(provider), "max_retries": 1}, messages=HELLO)
        assert len(provider.asked) == 2
    assert (counted(shield, "tokens"), counted(shield, "one")) == (25, 1)


def test_other_functions_are_not_there() -> None:
    with (
        redacting().run("ann") as run,
        pytest.raises(AttributeError, match="`image_generation` is not guarded"),
    ):
        guard(run).image_generation(prompt="a cat")

"""Nothing of `anthropic` is lost under a guard: the same events in the same order."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("anthropic")

import anthropic

from stanchion.hosts.anthropic import guard
from tests.hosts.clients.parity import PAGE, TURN, Page, same

ASKED: dict[str, Any] = {
    "model": "m",
    "max_tokens": 5,
    "messages": [{"role": "user", "content": "go"}],
}


def _streamed(api: Any) -> Any:
    with api.stream(**ASKED) as stream:
        events = list(stream)
        return [events, stream.get_final_message(), stream.get_final_text()]


def _texts(api: Any) -> Any:
    with api.stream(**ASKED) as stream:
        return [list(stream.text_stream), stream.current_message_snapshot]


def _cut(api: Any) -> Any:
    with api.stream(**ASKED) as stream:
        first = [next(stream), next(stream), next(stream)]
        stream.close()
        return [first, stream.current_message_snapshot]


WAYS: dict[str, Any] = {
    "create": (lambda api: api.create(**ASKED), TURN),
    "create, streamed": (lambda api: list(api.create(**ASKED, stream=True)), TURN),
    "stream": (_streamed, TURN),
    "text_stream": (_texts, TURN),
    "a stream that is left": (_cut, TURN),
    "parse": (lambda api: api.parse(**ASKED, output_format=Page), PAGE),
    "raw": (lambda api: api.with_raw_response.create(**ASKED).parse(), TURN),
}


@pytest.mark.parametrize("beta", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_the_same_events_in_order(way: str, beta: bool) -> None:
    play, turn = WAYS[way]
    same(
        lambda url: anthropic.Anthropic(api_key="k", base_url=url, max_retries=0),
        guard,
        lambda client: play(client.beta.messages if beta else client.messages),
        turn,
    )


async def _astreamed(client: Any) -> Any:
    async with client.messages.stream(**ASKED) as stream:
        events = [event async for event in stream]
        return [events, await stream.get_final_message()]


async def _acreated(client: Any) -> Any:
    return [event async for event in await client.messages.create(**ASKED, stream=True)]


@pytest.mark.parametrize("play", [_astreamed, _acreated])
def test_the_same_events_in_order_for_async_code(play: Any) -> None:
    same(
        lambda url: anthropic.AsyncAnthropic(api_key="k", base_url=url, max_retries=0),
        guard,
        play,
        TURN,
    )


def test_the_same_messages_by_the_tool_runner() -> None:
    @anthropic.beta_tool
    def look(name: str) -> str:
        """Look somebody up."""
        return f"{name} is here"

    def play(client: Any) -> Any:
        runner = client.beta.messages.tool_runner(
            **ASKED, tools=[look], thread=False, max_iterations=2
        )
        return list(runner)

    same(
        lambda url: anthropic.Anthropic(api_key="k", base_url=url, max_retries=0),
        guard,
        play,
        TURN,
    )

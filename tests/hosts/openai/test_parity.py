"""Nothing of `openai` is lost under a guard: the same events in the same order."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("openai")

import openai

from stanchion.hosts.openai import guard
from tests.hosts.clients.parity import PAGE, TURN, Page, same

CHAT: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "go"}]}
ASKED: dict[str, Any] = {"model": "m", "input": "go"}
USAGE: dict[str, Any] = {"stream_options": {"include_usage": True}}


def _chat_streamed(client: Any) -> Any:
    with client.chat.completions.stream(**CHAT, **USAGE) as stream:
        return [list(stream), stream.get_final_completion()]


def _parsed_stream(client: Any) -> Any:
    with client.chat.completions.stream(**CHAT, response_format=Page) as stream:
        return [list(stream), stream.get_final_completion().choices[0].message.parsed]


def _streamed(client: Any) -> Any:
    with client.responses.stream(**ASKED) as stream:
        return [list(stream), stream.get_final_response()]


def _structured(client: Any) -> Any:
    with client.responses.stream(**ASKED, text_format=Page) as stream:
        return [list(stream), stream.get_final_response().output_parsed]


def _cut(client: Any) -> Any:
    stream = client.chat.completions.create(**CHAT, stream=True)
    first = [next(stream), next(stream)]
    stream.close()
    return first


WAYS: dict[str, Any] = {
    "chat": (lambda client: client.chat.completions.create(**CHAT), TURN),
    "chat, streamed": (
        lambda client: list(client.chat.completions.create(**CHAT, stream=True, **USAGE)),
        TURN,
    ),
    "chat.stream": (_chat_streamed, TURN),
    "chat.stream, structured": (_parsed_stream, PAGE),
    "chat.parse": (
        lambda client: client.chat.completions.parse(**CHAT, response_format=Page),
        PAGE,
    ),
    "a stream that is left": (_cut, TURN),
    "raw": (lambda client: client.chat.completions.with_raw_response.create(**CHAT).parse(), TURN),
    "responses": (lambda client: client.responses.create(**ASKED), TURN),
    "responses, streamed": (
        lambda client: list(client.responses.create(**ASKED, stream=True)),
        TURN,
    ),
    "responses.stream": (_streamed, TURN),
    "responses.stream, structured": (_structured, PAGE),
    "responses.parse": (lambda client: client.responses.parse(**ASKED, text_format=Page), PAGE),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_same_events_in_order(way: str) -> None:
    play, turn = WAYS[way]
    same(lambda url: openai.OpenAI(api_key="k", base_url=url, max_retries=0), guard, play, turn)


async def _achat(client: Any) -> Any:
    return [
        event async for event in await client.chat.completions.create(**CHAT, stream=True, **USAGE)
    ]


async def _aresponses(client: Any) -> Any:
    async with client.responses.stream(**ASKED) as stream:
        return [[event async for event in stream], await stream.get_final_response()]


@pytest.mark.parametrize("play", [_achat, _aresponses])
def test_the_same_events_in_order_for_async_code(play: Any) -> None:
    same(
        lambda url: openai.AsyncOpenAI(api_key="k", base_url=url, max_retries=0), guard, play, TURN
    )

"""Guarded clients of `anthropic`: what is sent, what comes back, and what it is charged for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("anthropic")

import anthropic
from pydantic import BaseModel

from stanchion import Action, Finding, Refused, Shield, Stage
from stanchion.hosts.anthropic import guard
from tests.hosts.clients.provider import Call, Provider, Say
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
    stages,
)

ASKED: dict[str, Any] = {"model": "claude-none", "max_tokens": 50, "messages": HELLO}
TURN = [Say(LEAKS), Call("look", {"name": "ann"})]


class Page(BaseModel):
    owner: str
    key: str


class Wordy:
    """Wants another reply where one has several words."""

    id = "wordy"
    stages = (Stage.MODEL_REPLY,)

    def judge(self, event: Any) -> Finding | None:
        wordy = " " in event.text
        return (
            Finding(Action.RETRY, "test.wordy", text="too long", guidance="one word")
            if wordy
            else None
        )


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider(TURN) as made:
        yield made


def client(provider: Provider, **options: Any) -> anthropic.Anthropic:
    return anthropic.Anthropic(
        api_key="sk-none", base_url=provider.url, **{"max_retries": 0, **options}
    )


def test_what_is_asked_and_answered_is_redacted_in_its_type(provider: Provider) -> None:
    with redacting().run("ann") as run:
        guarded = guard(client(provider), run)
        assert isinstance(guarded, anthropic.Anthropic)
        said = [{"role": "user", "content": f"is it {KEY}?"}]
        reply = guarded.messages.create(
            model="m",
            max_tokens=5,
            system=f"hide {KEY}",
            messages=said,  # type: ignore[arg-type] # a message
        )
    assert type(reply) is anthropic.types.Message
    assert [block.type for block in reply.content] == ["text", "tool_use"]
    assert reply.content[0].text == SAFE  # type: ignore[union-attr] # it is a text
    assert reply.content[1].input == {"name": "ann"}  # type: ignore[union-attr] # it is a call
    sent = provider.asked[0].body
    assert (sent["system"], sent["messages"][0]["content"]) == (f"hide {GONE}", f"is it {GONE}?")


def test_the_stream_helper_puts_together_what_was_judged(provider: Provider) -> None:
    with redacting().run("ann") as run:
        guarded = guard(client(provider), run)
        with guarded.messages.stream(**ASKED) as stream:
            pieces = list(stream.text_stream)
            message = stream.get_final_message()
        with guarded.messages.stream(**ASKED) as stream:
            snapshots = [event.snapshot for event in stream if event.type == "text"]
        raw = [
            event
            for event in guarded.messages.create(**ASKED, stream=True)
            if event.type == "content_block_delta"
        ]
    assert "".join(pieces) == snapshots[-1] == message.content[0].text == SAFE  # type: ignore[union-attr] # a text
    assert len(pieces) > 2
    assert message.content[1].input == {"name": "ann"}  # type: ignore[union-attr] # a call
    assert message.usage.output_tokens == 5
    assert "".join([getattr(event.delta, "text", "") for event in raw]) == SAFE


def test_structured_output_is_parsed_from_what_was_judged() -> None:
    page = json.dumps({"owner": "ann", "key": KEY})
    with Provider([Say([page[:30], page[30:]])]) as provider, redacting().run("ann") as run:
        guarded = guard(client(provider), run)
        assert guarded.messages.parse(**ASKED, output_format=Page).parsed_output == Page(
            owner="ann", key=GONE
        )


@pytest.mark.parametrize("stream", [False, True])
def test_raw_ways_give_what_was_judged(provider: Provider, stream: bool) -> None:
    with redacting().run("ann") as run:
        api = guard(client(provider), run).messages
        with api.with_streaming_response.create(**ASKED, stream=stream) as response:
            seen = "".join(response.iter_text())
        raw: Any = api.with_raw_response.create(**ASKED, stream=stream)
        came = raw.parse()
        said = (
            "".join(
                [
                    getattr(one.delta, "text", "")
                    for one in came
                    if one.type == "content_block_delta"
                ]
            )
            if (stream)
            else came.content[0].text
        )
    assert KEY not in seen
    assert GONE in seen
    assert said == SAFE


def test_async_clients(provider: Provider) -> None:
    async def play() -> None:
        plain = anthropic.AsyncAnthropic(api_key="sk-none", base_url=provider.url, max_retries=0)
        async with redacting().run("ann") as run, guard(plain, run) as guarded:
            reply = await guarded.messages.create(**ASKED)
            assert reply.content[0].text == SAFE  # type: ignore[union-attr] # a text
            async with guarded.messages.stream(**ASKED) as stream:
                assert "".join([piece async for piece in stream.text_stream]) == SAFE
            events = await guarded.with_options(timeout=5).messages.create(**ASKED, stream=True)
            said = [
                getattr(event.delta, "text", "")
                async for event in events
                if event.type == "content_block_delta"
            ]
            assert "".join(said) == SAFE
            await guarded.messages.count_tokens(
                model="m", messages=[{"role": "user", "content": KEY}]
            )
            assert KEY not in str(provider.asked[-1].body)

    asyncio.run(play())


def test_refusals_are_raised_and_nothing_is_sent() -> None:
    with Provider([Say(["fine"])]) as provider, refusing().run("ann") as run:
        guarded = guard(client(provider), run)
        said: Any = [{"role": "user", "content": KEY}]
        with pytest.raises(Refused):
            guarded.messages.create(**{**ASKED, "messages": said})
        with pytest.raises(Refused):
            guarded.beta.messages.create(**{**ASKED, "messages": said})
        with pytest.raises(Refused):
            guarded.messages.count_tokens(model="m", messages=said)
        with pytest.raises(Refused):
            guarded.beta.messages.tool_runner(**{**ASKED, "messages": said}, tools=[]).until_done()
        assert provider.asked == []


def test_a_refused_reply_of_a_stream_is_never_whole() -> None:
    with (
        Provider([Say(["Here it is: ", KEY, " and more"])]) as provider,
        refusing().run("ann") as run,
    ):
        heard: list[str] = []
        with (
            pytest.raises(Refused),
            guard(client(provider), run).messages.stream(**ASKED) as stream,
        ):
            heard.extend(stream.text_stream)
        assert "".join(heard).strip() == "Here it is:"


@pytest.mark.parametrize("stream", [False, True])
def test_usage_is_charged_once(provider: Provider, stream: bool) -> None:
    shield = budgeted(tokens=1_000_000)
    with shield.run("ann", "task") as run:
        reply: Any = guard(client(provider), run).messages.create(**ASKED, stream=stream)
        list(reply) if stream else None
    assert counted(shield, "tokens") == 25


@pytest.mark.parametrize("stream", [False, True])
def test_cached_tokens_cost_what_they_cost(stream: bool) -> None:
    price = {"input_usd_per_mtok": 10, "cached_input_usd_per_mtok": 1, "output_usd_per_mtok": 100}
    shield = redacting(
        {"use": "budget", "per": "task", "cost_usd": 5}, prices={"claude-none": price}
    )
    with Provider([Say(["fine"])]) as provider, shield.run("ann", "task") as run:
        reply: Any = guard(client(provider), run).messages.create(**ASKED, stream=stream)
        list(reply) if stream else None
    assert counted(shield, "cost_microusd") == 12 * 10 + 8 * 1 + 5 * 100


def test_retries_of_the_sdk_are_one_call() -> None:
    shield = budgeted(tokens=1_000_000, calls=10)
    with Provider(500, 529, [Say(["fine"])]) as provider, shield.run("ann", "task") as run:
        guard(client(provider, max_retries=2), run).messages.create(**ASKED)
        assert len(provider.asked) == 3
    assert stages(shield) == ["model_call", "model_reply"]
    assert (counted(shield, "tokens"), counted(shield, "one")) == (25, 1)


@pytest.mark.parametrize("system", [None, "be kind", [{"type": "text", "text": "be kind"}]])
def test_guidance_joins_the_words_of_the_system(system: Any) -> None:
    shield = Shield.load({"name": "p"}, guards=[Wordy()], store="memory:")
    with Provider([Say(["let me think"])], [Say(["yes"])]) as provider, shield.run("ann") as run:
        more = {} if system is None else {"system": system}
        guard(client(provider), run).messages.create(**ASKED, **more)
        first, again = [asked.body for asked in provider.asked]
    assert first.get("system") == system
    assert again["messages"] == HELLO
    added = {"type": "text", "text": "one word"}
    assert again["system"] == (
        "one word" if system is None else [{"type": "text", "text": "be kind"}, added]
    )


def test_middleware_of_the_client_stays_and_sees_no_way_round(provider: Provider) -> None:
    seen: list[str] = []

    def watches(request: Any, call_next: Any) -> Any:
        seen.append(request.url)
        return call_next(request)

    with redacting().run("ann") as run:
        guarded = guard(client(provider), run).with_middleware(watches)
        assert guarded.messages.create(**ASKED).content[0].text == SAFE  # type: ignore[union-attr] # a text
        guarded.messages.count_tokens(model="m", messages=[{"role": "user", "content": KEY}])
    assert seen == ["/v1/messages", "/v1/messages/count_tokens"]
    assert KEY not in str(provider.asked[-1].body)


def test_streams_that_are_no_events_are_refused_in_a_clear_line(provider: Provider) -> None:
    class Framed(anthropic.Anthropic):
        def _make_sse_decoder(self) -> Any:
            return object()

    with redacting().run("ann") as run:
        framed = Framed(api_key="sk-none", base_url=provider.url, max_retries=0)
        with pytest.raises(TypeError, match="cannot be judged: ask for the reply as a whole"):
            guard(framed, run).messages.create(**ASKED, stream=True)

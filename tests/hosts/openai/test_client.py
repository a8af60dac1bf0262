"""Guarded clients of `openai`: what is sent, what comes back, and what it is charged for."""

from __future__ import annotations

import asyncio
import gc
import json
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("openai")

import openai
from pydantic import BaseModel

from stanchion import Action, Finding, Refused, Shield, Stage
from stanchion.hosts.clients.guarded import UnknownClient
from stanchion.hosts.openai import guard, run_tools
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

ASKED: dict[str, Any] = {"model": "gpt-none", "messages": HELLO}
TURN = [Say(LEAKS), Call("look", {"name": "ann"})]


class Page(BaseModel):
    owner: str
    key: str


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider(TURN) as made:
        yield made


def client(provider: Provider, **options: Any) -> openai.OpenAI:
    return openai.OpenAI(
        api_key="sk-none", base_url=f"{provider.url}/v1", **{"max_retries": 0, **options}
    )


def plays(*turns: Any) -> Provider:
    return Provider(*turns)


def test_a_client_stays_of_its_type_and_the_first_one_as_it_is(provider: Provider) -> None:
    plain = client(provider, timeout=7.5, default_headers={"x-mine": "yes"})
    with redacting().run("ann") as run:
        guarded = guard(plain, run)
        assert isinstance(guarded, openai.OpenAI)
        assert guarded.timeout == 7.5
        guarded.chat.completions.create(**ASKED)
        assert provider.asked[0].headers["x-mine"] == "yes"
        assert plain.chat.completions.create(**ASKED).choices[0].message.content == "".join(LEAKS)


@pytest.mark.parametrize("how", ["chat", "responses"])
def test_what_is_asked_and_answered_is_redacted_in_its_type(provider: Provider, how: str) -> None:
    with redacting().run("ann") as run:
        guarded = guard(client(provider), run)
        if how == "chat":
            reply: Any = guarded.chat.completions.create(
                model="m", messages=[{"role": "user", "content": f"is it {KEY}?"}]
            )
            assert type(reply).__name__ == "ChatCompletion"
            said, call = (
                reply.choices[0].message.content,
                reply.choices[0].message.tool_calls[0].function,
            )
        else:
            reply = guarded.responses.create(
                model="m", instructions=f"hide {KEY}", input=f"is it {KEY}?"
            )
            assert type(reply).__name__ == "Response"
            said, call = reply.output_text, reply.output[1]
            assert provider.asked[0].body["instructions"] == f"hide {GONE}"
            assert provider.asked[0].body["input"] == f"is it {GONE}?"
    assert said == SAFE
    assert json.loads(call.arguments) == {"name": "ann"}
    assert KEY not in str(provider.asked[0].body)


def test_a_reply_that_nobody_changed_is_the_providers_byte_for_byte() -> None:
    with plays([Say(["fine"])]) as provider, redacting().run("ann") as run:
        raw = client(provider).chat.completions.with_raw_response.create(**ASKED)
        assert (
            guard(client(provider), run).chat.completions.with_raw_response.create(**ASKED).content
            == raw.content
        )


@pytest.mark.parametrize("stream", [False, True])
def test_raw_ways_give_what_was_judged(provider: Provider, stream: bool) -> None:
    with redacting().run("ann") as run:
        api = guard(client(provider), run).chat.completions
        with api.with_streaming_response.create(**ASKED, stream=stream) as response:
            seen = "".join(response.iter_text())
        raw = api.with_raw_response.create(**ASKED, stream=stream)
        parsed: Any = raw.parse()
        said = (
            "".join([one.choices[0].delta.content or "" for one in parsed if one.choices])
            if stream
            else (parsed.choices[0].message.content)
        )
    assert KEY not in seen
    assert GONE in seen
    assert said == SAFE
    assert raw.headers["content-type"] == ("text/event-stream" if stream else "application/json")


def test_structured_output_is_parsed_from_what_was_judged() -> None:
    page = json.dumps({"owner": "ann", "key": KEY})
    with plays([Say([page[:30], page[30:]])]) as provider, redacting().run("ann") as run:
        guarded = guard(client(provider), run)
        chat = (
            guarded.chat.completions.parse(**ASKED, response_format=Page).choices[0].message.parsed
        )
        response = guarded.responses.parse(model="m", input="hello", text_format=Page).output_parsed
        with guarded.chat.completions.stream(**ASKED, response_format=Page) as stream:
            streamed = stream.get_final_completion().choices[0].message.parsed
        with guarded.responses.stream(model="m", input="hello", text_format=Page) as events:
            followed = events.get_final_response().output_parsed
    assert chat == response == streamed == followed == Page(owner="ann", key=GONE)


def test_streams_are_put_together_by_the_sdk(provider: Provider) -> None:
    with redacting().run("ann") as run:
        guarded = guard(client(provider), run)
        with guarded.chat.completions.stream(**ASKED) as chat:
            message = chat.get_final_completion().choices[0].message
        with guarded.responses.stream(model="m", input="hello") as events:
            done = [event.text for event in events if event.type == "response.output_text.done"]
            response = events.get_final_response()
    assert message.content == response.output_text == SAFE
    assert done == [SAFE]
    assert message.tool_calls is not None
    assert message.tool_calls[0].function.arguments == '{"name": "ann"}'
    assert message.tool_calls[0].id == "call_0"


def test_async_clients(provider: Provider) -> None:
    async def play() -> None:
        plain = openai.AsyncOpenAI(api_key="sk-none", base_url=f"{provider.url}/v1", max_retries=0)
        async with redacting().run("ann") as run, guard(plain, run) as guarded:
            reply = await guarded.chat.completions.create(**ASKED)
            assert reply.choices[0].message.content == SAFE
            chunks = await guarded.chat.completions.create(**ASKED, stream=True)
            said = [chunk.choices[0].delta.content async for chunk in chunks if chunk.choices]
            assert "".join(filter(None, said)) == SAFE
            async with guarded.responses.stream(model="m", input="hello") as events:
                assert (await events.get_final_response()).output_text == SAFE
            raw = await guarded.responses.with_raw_response.create(model="m", input="hello")
            assert KEY not in raw.text
            async with guarded.responses.with_streaming_response.create(
                model="m", input="hello"
            ) as response:
                assert KEY not in await response.text()
            await guarded.files.create(
                file=("a.txt", f"it is {KEY}".encode()), purpose="assistants"
            )
            assert KEY.encode() not in provider.asked[-1].body

    asyncio.run(play())


def test_refusals_are_raised_and_nothing_is_sent() -> None:
    with plays([Say(["fine"])]) as provider, refusing().run("ann") as run:
        guarded = guard(client(provider), run)
        with pytest.raises(Refused):
            guarded.chat.completions.create(model="m", messages=[{"role": "user", "content": KEY}])
        with pytest.raises(Refused):
            guarded.embeddings.create(model="m", input=KEY)
        with pytest.raises(Refused):  # what is added to a body counts as well
            guarded.chat.completions.create(
                **ASKED, extra_body={"messages": [{"role": "user", "content": KEY}]}
            )
        with pytest.raises(Refused):
            guarded.post(
                "/chat/completions",
                cast_to=object,
                body={"messages": [{"role": "user", "content": KEY}]},
            )
        assert provider.asked == []


def test_a_stream_ends_where_it_is_refused_and_its_connection_is_closed() -> None:
    with plays([Say(["Here it is: ", KEY, " and more"])]) as provider, refusing().run("ann") as run:
        chunks = guard(client(provider), run).chat.completions.create(**ASKED, stream=True)
        heard: list[str] = []
        with pytest.raises(Refused):
            heard.extend(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)
        assert "".join(heard).strip() == "Here it is:"
        assert chunks.response.is_closed


def test_a_stream_that_nobody_reads_to_its_end_gives_its_connection_back(
    provider: Provider,
) -> None:
    with warnings.catch_warnings(action="ignore"):
        gc.collect()  # what tests before have left is not of this one
    with redacting().run("ann") as run:
        chunks = guard(client(provider), run).chat.completions.create(**ASKED, stream=True)
        next(iter(chunks))
        chunks.close()
        del chunks
        gc.collect()  # a socket that is left open would be a warning, which fails here


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("how", ["chat", "responses"])
def test_usage_is_charged_once(provider: Provider, how: str, stream: bool) -> None:
    shield = budgeted(tokens=1_000_000)
    with shield.run("ann", "task") as run:
        guarded = guard(client(provider), run)
        if how == "chat":
            reply: Any = guarded.chat.completions.create(**ASKED, stream=stream)
        else:
            reply = guarded.responses.create(model="m", input="hello", stream=stream)
        list(reply) if stream else None
    assert counted(shield, "tokens") == 25


def test_cached_tokens_cost_what_they_cost() -> None:
    price = {"input_usd_per_mtok": 10, "cached_input_usd_per_mtok": 1, "output_usd_per_mtok": 100}
    with plays([Say(["fine"])]) as provider:
        priced = redacting(
            {"use": "budget", "per": "task", "cost_usd": 5}, prices={"gpt-none": price}
        )
        with priced.run("ann", "task") as run:
            guard(client(provider), run).chat.completions.create(**ASKED)
        assert counted(priced, "cost_microusd") == 12 * 10 + 8 * 1 + 5 * 100


def test_retries_of_the_sdk_are_one_call() -> None:
    shield = budgeted(tokens=1_000_000, calls=10)
    with plays(500, 500, [Say(["fine"])]) as provider, shield.run("ann", "task") as run:
        guarded = guard(client(provider, max_retries=2), run)
        raw = guarded.chat.completions.with_raw_response.create(**ASKED)
        assert len(provider.asked) == 3
        assert raw.retries_taken == 2
    assert stages(shield) == ["model_call", "model_reply"]
    assert counted(shield, "tokens") == 25
    assert counted(shield, "one") == 1


def test_errors_of_the_provider_are_the_sdks_own() -> None:
    shield = redacting()
    with (
        plays(500) as provider,
        shield.run("ann") as run,
        pytest.raises(openai.InternalServerError),
    ):
        guard(client(provider), run).chat.completions.create(**ASKED)
    assert stages(shield) == ["model_call", "error"]


def test_guidance_goes_along_with_the_next_request() -> None:
    class Wordy:
        id = "wordy"
        stages = (Stage.MODEL_REPLY,)

        def judge(self, event: Any) -> Finding | None:
            wordy = " " in event.text
            return (
                Finding(Action.RETRY, "test.wordy", text="too long", guidance="one word")
                if wordy
                else None
            )

    shield = Shield.load({"name": "p"}, guards=[Wordy()], store="memory:")
    with plays([Say(["let me think"])], [Say(["yes"])]) as provider, shield.run("ann") as run:
        reply = guard(client(provider), run).responses.create(
            model="m", instructions="be kind", input="Will it rain?"
        )
        assert reply.output_text == "yes"
        again = provider.asked[1].body
        assert again["instructions"] == "be kind"
        assert again["input"] == [
            {"role": "user", "content": "Will it rain?"},
            {"role": "system", "content": "one word"},
        ]


def test_other_requests_are_redacted_both_ways() -> None:
    shield = redacting()
    with plays([]) as provider, shield.run("ann") as run:
        guarded = guard(client(provider), run)
        provider.plain = {"id": "file-1", "object": "file", "filename": f"{KEY}.txt"}
        made = guarded.files.create(file=("a.txt", f"it is {KEY}".encode()), purpose="assistants")
        assert KEY.encode() not in provider.asked[0].body
        assert made.filename == f"{GONE}.txt"
        provider.plain = b"\x89PNG \xff\xfe"
        assert guarded.files.content("file-1").read() == b"\x89PNG \xff\xfe"
    assert stages(shield) == ["egress", "tool_result", "egress"]


def test_copies_are_guarded_and_others_of_their_class_send_nothing(provider: Provider) -> None:
    with redacting().run("ann") as run:
        guarded = guard(client(provider), run)
        for made in (
            guarded.copy(),
            guarded.with_options(timeout=5),
            guarded.with_options(max_retries=1).copy(),
        ):
            assert made.chat.completions.create(**ASKED).choices[0].message.content == SAFE
        sent = len(provider.asked)
        with pytest.raises(UnknownClient):
            type(guarded)(api_key="sk-none", base_url=f"{provider.url}/v1").models.list()
        assert len(provider.asked) == sent


def test_what_is_no_client_is_not_guarded(provider: Provider) -> None:
    with redacting().run("ann") as run:
        for given, why in (
            (object(), "no `request`"),
            (guard(client(provider), run), "guarded already"),
        ):
            with pytest.raises(UnknownClient, match=why):
                guard(given, run)  # type: ignore[type-var] # which is what is tested


def test_tools_without_a_function_or_with_broken_arguments_are_answered(provider: Provider) -> None:
    with redacting().run("ann") as run:
        guarded = guard(client(provider), run)
        reply = guarded.chat.completions.create(**ASKED)
        assert run_tools(guarded, reply, {})[0]["content"] == "LookupError: there is no tool `look`"
        function: Any = reply.choices[0].message.tool_calls[0]  # type: ignore[index] # there is one
        function.function.arguments = "{broken"
        ran: list[Any] = []
        (said,) = run_tools(guarded, reply, {"look": ran.append})
        assert "mapping" in said["content"]
        assert ran == []

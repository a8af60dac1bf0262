"""Models and streams on a host: guidance in its messages, refusals in its words, streams judged as
they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import msgspec
import pytest

from stanchion import Action, Refused, Stage
from stanchion.hosts import Host
from stanchion.testing import shield_for
from tests.hosts.contract.loops import LOOP, Asked
from tests.hosts.contract.test_calls import KEY
from tests.runtime.guards import says

SECRETS: dict[str, Any] = {"name": "s", "guards": [{"use": "secrets"}]}


def ask(hosted: Any, awaited: bool, fn: Any, messages: list[Any], **options: Any) -> Any:
    """Ask a model, sync or async."""
    if not awaited:
        return hosted.model(fn, messages, **options)

    async def afn(messages: list[Any], **params: Any) -> Any:
        return fn(messages, **params)

    return asyncio.run(hosted.amodel(afn, messages, **options))


@pytest.fixture(params=[False, True], ids=["sync", "async"])
def awaited(request: pytest.FixtureRequest) -> bool:
    """Whether it is awaited."""
    return bool(request.param)


def test_a_reply_comes_back_changed_where_it_was(awaited: bool) -> None:
    hosted = LOOP.run(shield_for(SECRETS), "ann")
    assert ask(hosted, awaited, lambda messages: "hi", ["hello"]) == "hi"
    assert KEY not in ask(hosted, awaited, lambda messages: f"it is {KEY}", ["hello"])


def test_a_refused_request_is_not_sent(awaited: bool) -> None:
    hosted = LOOP.run(
        shield_for({"name": "b"}, guards=[says(Action.BLOCK, Stage.MODEL_CALL)]), "ann"
    )
    sent: list[Any] = []
    said = ask(hosted, awaited, sent.append, ["hello"], about=Asked("m1"))
    assert (said.id, said.kind) == ("m1", "refused")
    assert not sent


def test_what_ends_the_run_is_no_reply(awaited: bool) -> None:
    """`run.model` gives the safe message; a host has words for that."""
    for stage in (Stage.MODEL_CALL, Stage.MODEL_REPLY):
        hosted = LOOP.run(shield_for({"name": "b"}, guards=[says(Action.HALT, stage)]), "ann")
        assert ask(hosted, awaited, lambda messages: "x", ["hello"]).kind == "ended"
        raising = Host("raising", can=LOOP.can).run(
            shield_for({"name": "b"}, guards=[says(Action.HALT, stage)]), "a"
        )
        with pytest.raises(Refused) as refused:
            ask(raising, awaited, lambda messages: "x", ["hello"])
        assert refused.value.ended
        assert shield_for({"name": "b"}, guards=[says(Action.HALT, stage)]).run().model(
            lambda m: "x", []
        ) == ("says says HALT")


def test_guidance_is_a_message_of_the_hosts_own(awaited: bool) -> None:
    class System(msgspec.Struct, frozen=True):
        content: str

    host = Host("own", can=LOOP.can, refused=lambda refusal: "gave up", guided=System)
    guard = says(Action.RETRY, Stage.MODEL_REPLY, guidance="write JSON")
    seen: list[Any] = []

    def fn(messages: list[Any]) -> str:
        seen.append(messages)
        return "x"

    assert (
        ask(host.run(shield_for({"name": "b"}, guards=[guard]), "ann"), awaited, fn, ["hello"])
        == "gave up"
    )
    assert seen[1] == ["hello", System("write JSON")]


def test_a_streamed_reply_is_judged_as_it_comes() -> None:
    def chunks(messages: list[Any]) -> Iterator[str]:
        yield from ("it ", "is ", KEY[:10], KEY[10:], " now")

    async def achunks(messages: list[Any]) -> AsyncIterator[str]:
        for chunk in chunks(messages):
            yield chunk

    hosted = LOOP.run(shield_for(SECRETS), "ann")
    text = "".join(hosted.model(chunks, ["hello"]))
    assert text.startswith("it is ")
    assert KEY[:10] not in text

    async def later() -> str:
        return "".join(
            [
                chunk
                async for chunk in await hosted.amodel(
                    lambda messages: achunks(messages), ["hello"]
                )
            ]
        )

    assert asyncio.run(later()) == text


def test_a_stream_that_is_refused_ends_with_the_hosts_words() -> None:
    policy = {"name": "s", "guards": [{"use": "secrets", "action": "block"}]}
    pieces = ["fine, ", f"and {KEY} ", "never"]

    async def later(hosted: Any) -> list[Any]:
        async def source() -> AsyncIterator[str]:
            for piece in pieces:
                yield piece

        return [item async for item in hosted.astream(source(), about=Asked("s1"))]

    def now(hosted: Any) -> list[Any]:
        return list(hosted.stream(iter(pieces), about=Asked("s1")))

    for stream in (now, lambda hosted: asyncio.run(later(hosted))):
        *before, said = stream(LOOP.run(shield_for(policy), "ann"))
        assert KEY not in "".join(before)
        assert (said.id, said.kind) == ("s1", "refused")
        raising = Host("raising", can=LOOP.can).run(shield_for(policy), "ann")
        with pytest.raises(Refused):
            stream(raising)

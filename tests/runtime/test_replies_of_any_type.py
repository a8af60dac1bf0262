"""What is not plain data was handed on unjudged: generators, objects, files, responses. Streams
were not charged."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Callable, Iterator
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from stanchion import Refused, Shield

KEY = "AKIAWW7JOSQESZEK5VDL"
BLOCKS = {"name": "blocks", "guards": [{"use": "secrets", "action": "block"}]}


class Own:
    """A class of somebody's own."""

    def __init__(self) -> None:
        self.note = f"the key is {KEY}"


class Said:
    """One that keeps its text in its class."""

    output_text = f"the key is {KEY}"


def generated() -> Iterator[str]:
    yield "the key is "
    yield KEY


async def generated_later() -> AsyncIterator[str]:
    yield "the key is "
    yield KEY


async def gathered(source: Any) -> list[Any]:
    return [item async for item in source]


REPLIES: dict[str, Callable[[], Any]] = {
    "generator": generated,
    "iterator": lambda: iter(["the key ", f"is {KEY}"]),
    "namespace": lambda: SimpleNamespace(answer=f"the key is {KEY}"),
    "output_text": Said,
    "own class": Own,
}


@pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES)
def test_a_reply_of_any_type_is_judged(reply: Callable[[], Any]) -> None:
    run = Shield.load(BLOCKS).run("ann")
    with pytest.raises(Refused) as refused:
        list(run.model(lambda _messages: reply(), ["hello"]))
    assert refused.value.decision.code == "secrets.found"


def test_an_async_generator_is_judged_as_it_comes() -> None:
    run = Shield.load(BLOCKS).run("ann")
    with pytest.raises(Refused):
        asyncio.run(gathered(run.model(lambda _messages: generated_later(), ["hello"])))


RESULTS: dict[str, Callable[[], Any]] = {
    "own class": Own,
    "file in memory": lambda: io.StringIO(f"the key is {KEY}"),
    "response": lambda: httpx.Response(200, text=f"the key is {KEY}"),
    "iterator": lambda: iter([f"the key is {KEY}"]),
    "bytes": lambda: f"the key is {KEY}".encode(),
}


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_a_result_of_any_type_is_judged(result: Callable[[], Any]) -> None:
    run = Shield.load(BLOCKS).run("ann")
    with pytest.raises(Refused):
        list(run.call(result))


def test_a_response_is_redacted_under_strict() -> None:
    run = Shield.load("strict").run("ann")

    def fetch() -> httpx.Response:
        return httpx.Response(200, text=f"the key is {KEY}")

    response = run.call(fetch)
    assert type(response) is httpx.Response
    assert response.text == "the key is [redacted:aws-access-token]"
    assert KEY.encode() not in response.content


def test_streams_use_up_a_budget() -> None:
    policy = {"name": "p", "guards": [{"use": "budget", "tokens": 3_000}]}
    run = Shield.load(policy).run("ann")
    list(run.stream(["word " * 100]))
    with pytest.raises(Refused):
        [list(run.stream(["word " * 100])) for _ in range(50)]


class Lies(dict[str, Any]):
    """A mapping that shows something else than it holds."""

    def items(self) -> Any:
        return {"command": "ls"}.items()


def test_a_mapping_that_lies_is_refused() -> None:
    run = Shield.load("default").run("ann")
    decision = run.check("bash", Lies(command="rm -rf /"))
    assert not decision.proceeds
    assert decision.code == "kernel.unread"

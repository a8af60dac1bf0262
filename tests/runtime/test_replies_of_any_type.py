"""What comes piece by piece, and what hides its text, is judged like any other reply; streams are
charged."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from stanchion import Refused, Shield

KEY = "AKIAWW7JOSQESZEK5VDL"
BLOCKS = {"name": "blocks", "guards": [{"use": "secrets", "action": "block"}]}


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
    "output_text": Said,
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


def test_a_result_that_is_an_iterator_is_judged() -> None:
    run = Shield.load(BLOCKS).run("ann")
    with pytest.raises(Refused):
        list(run.call(lambda: iter([f"the key is {KEY}"])))


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

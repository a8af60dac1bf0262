"""Streams in OpenAI's form: what repeats the pieces as a whole shows no more than was let through
of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pydantic
import pytest

from stanchion import Shield
from stanchion.hosts import EVERYTHING, Host
from stanchion.hosts.contract.streams import ResponseEvents

KEY = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
GONE = "[redacted:github-pat]"


class Event(pydantic.BaseModel):
    """An event as the SDK has it."""

    type: str
    delta: str | None = None
    output_index: int | None = None
    content_index: int | None = None
    text: str | None = None
    item: dict[str, Any] | None = None
    response: dict[str, Any] | None = None


def delta(text: str, place: int = 0) -> Event:
    """A piece of a text."""
    return Event(type="response.output_text.delta", delta=text, output_index=place, content_index=0)


def completed(*texts: str, **beside: Any) -> Event:
    """The end, with all that was said."""
    output = [
        {"type": "message", "content": [{"type": "output_text", "text": text}]} for text in texts
    ]
    usage = {"input_tokens": 3, "output_tokens": 4}
    return Event(type="response.completed", response={"output": output, "usage": usage, **beside})


def passed(*events: Event, tokens: int = 1_000_000) -> tuple[list[Event], int]:
    """What is passed on of a stream, and how many tokens were charged for it."""
    budget = {"use": "budget", "tokens": tokens, "per": "task"}
    shield = Shield.load({"name": "p", "guards": [{"use": "secrets"}, budget]}, store="memory:")

    async def source() -> AsyncIterator[Event]:
        for event in events:
            yield event

    async def play() -> list[Event]:
        reply = ResponseEvents()

        async def ask(_messages: Any) -> Any:
            return reply.pieces_of(source())

        async with Host("h", can=EVERYTHING).run(shield, agent="a", task="t") as hosted:
            judged = await hosted.amodel(ask, [])
            return [event async for piece in judged for event in reply.passed_on(piece)]

    out = asyncio.run(play())
    return out, sum([one.number for one in shield.store.look() if ":tokens:" in one.key])


def said(events: list[Event]) -> str:
    """What came in pieces."""
    return "".join([event.delta for event in events if event.delta is not None])


def test_pieces_and_what_repeats_them_are_redacted_alike() -> None:
    done = Event(
        type="response.output_text.done", text=f"it is {KEY}, so", output_index=0, content_index=0
    )
    whole = completed(f"it is {KEY}, so")
    out, tokens = passed(
        delta("it is "), delta(KEY[:9]), delta(KEY[9:]), delta(", so"), done, whole
    )
    assert said(out) == f"it is {GONE}, so"
    assert [event.type for event in out[-2:]] == [done.type, whole.type]
    assert out[-2].text == f"it is {GONE}, so"
    assert out[-1].response is not None
    assert out[-1].response["output"][0]["content"][0]["text"] == f"it is {GONE}, so"
    assert tokens == 7


@pytest.mark.parametrize("pieces", [[], [delta("one", 0)]])
def test_words_that_never_came_in_pieces_are_judged_too(pieces: list[Event]) -> None:
    out, _ = passed(*pieces, completed("one", f"two {KEY}"))
    assert out[-1].response is not None
    assert [item["content"][0]["text"] for item in out[-1].response["output"]] == [
        "one",
        f"two {GONE}",
    ]


def test_parts_do_not_run_into_each_other_and_nothing_is_copied_without_need() -> None:
    added = Event(
        type="response.output_item.added", item={"type": "function_call", "arguments": ""}
    )
    whole = completed("one", "two", instructions="be kind", tools=[{"text": "a tool"}])
    out, _ = passed(delta("one", 0), added, delta("two", 1), whole)
    assert [event.delta for event in out if event.delta] == ["one", "two"]
    assert out[-1] is whole

"""Replies in the shapes that SDKs give them, as plain data: their words are found, and nothing else
for them."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion import Shield, Stage
from stanchion.runtime.values import read
from stanchion.runtime.values.words import at, words_of
from tests.sdks.shapes import CHUNKS, REPLIES, calling, model_response_calling

KEY = "AKIAWW7JOSQESZEK5VDL"
GONE = "[redacted:aws-access-token]"
REDACTS = {"name": "redacts", "guards": [{"use": "secrets"}]}


@pytest.mark.parametrize(("make", "place"), REPLIES.values(), ids=REPLIES)
def test_the_words_of_a_reply(make: Any, place: Any) -> None:
    content = read(make("hello there")).content
    words = words_of(content)
    assert words.text(content) == "hello there"
    assert [path for path, _ in words.spoken(content)] == [place]
    assert words.final


@pytest.mark.parametrize("make", [calling, model_response_calling])
def test_a_reply_that_calls_a_tool_is_not_final(make: Any) -> None:
    words = words_of(make())
    assert words.text(make()) == ""
    assert not words.final


@pytest.mark.parametrize(("make", "place"), REPLIES.values(), ids=REPLIES)
def test_its_words_are_redacted_and_nothing_else_changes(make: Any, place: Any) -> None:
    run = Shield.load(REDACTS).run("ann")
    reply = run.model(lambda _messages: make(f"it is {KEY}"), ["hello"])
    assert reply == make(f"it is {GONE}")


@pytest.mark.parametrize(("make", "place"), CHUNKS.values(), ids=CHUNKS)
def test_its_chunks_are_redacted_across_their_edges(make: Any, place: Any) -> None:
    run = Shield.load(REDACTS).run("ann")
    pieces = [make(text) for text in ("it is AKIAWW7J", "OSQESZEK5VDL, ", "keep it")]
    out = list(run.model(lambda _messages: iter(pieces), ["hello"]))
    assert "".join([at(chunk, place) for chunk in out]) == f"it is {GONE}, keep it"


def test_words_over_several_blocks_are_one_text_for_guards_and_several_for_the_host() -> None:
    heard: list[str] = []

    class Listens:
        id = "listens"
        stages = (Stage.MODEL_REPLY,)

        def judge(self, event: Any) -> None:
            heard.append(event.text)

    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "one"},
        {"type": "text", "text": KEY},
    ]
    run = Shield.load(REDACTS, guards=[Listens()]).run("ann")
    reply = run.model(lambda _messages: {"content": blocks}, ["hello"])
    assert heard[0] == f"one\n{KEY}"
    assert [block.get("text") for block in reply["content"]] == [None, "one", GONE]


def test_what_is_beside_the_words_is_clean_too() -> None:
    arguments = {"function": {"name": "send", "arguments": f'{{"body": "{KEY}"}}'}}
    run = Shield.load(REDACTS).run("ann")
    reply = run.model(lambda _messages: {"content": "fine", "tool_calls": [arguments]}, ["hello"])
    assert KEY not in str(reply)
    assert reply["content"] == "fine"

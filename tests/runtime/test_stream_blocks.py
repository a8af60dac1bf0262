"""Streams of blocks: however a reply is cut, its events come out in an order in which a client can
put it together."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from stanchion import Shield, Stage
from tests.hosts.clients.provider import Call, Chat, Messages, Responses, Say

KEY = "AKIAWW7JOSQESZEK5VDL"
GONE = "[redacted:aws-access-token]"
SHIELD = Shield.load({"name": "redacts", "guards": [{"use": "secrets"}]}, store="memory:")


@st.composite
def says(draw: Any) -> Say:
    """A text in pieces; some have a key, cut anywhere."""
    text = draw(
        st.sampled_from(
            [
                f"it is {KEY}, keep it. ",
                "all is well ",
                f" {KEY} ",
                f" {KEY}\n",
                f"{KEY} {KEY} ",
                " ",
            ]
        )
    )
    cuts = sorted(draw(st.sets(st.integers(1, max(1, len(text) - 1)), max_size=6)))
    return Say([text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)])


TURNS = st.lists(
    st.one_of(says(), st.just(Call("look", {"name": "ann", "key": KEY}))), min_size=1, max_size=4
)


def judged(events: Iterator[Any]) -> list[Any]:
    return list(
        SHIELD.run("ann").model(
            lambda _messages: (one for one in events if one != "[DONE]"), ["hello"]
        )
    )


def clean(turn: list[Any]) -> list[str]:
    """The parts of a turn as they may be seen."""
    texts = [json.dumps(part.args) if isinstance(part, Call) else "".join(part) for part in turn]
    return [text.replace(KEY, GONE) for text in texts]


@given(TURNS)
def test_blocks_of_messages(turn: list[Any]) -> None:
    blocks: dict[int, str] = {}
    over: set[int] = set()
    for event in judged(Messages(turn, "m").events()):
        at = event.get("index")
        match event["type"]:
            case "content_block_start":
                assert at == len(blocks)
                blocks[at] = ""
            case "content_block_delta":
                assert at not in over
                blocks[at] += event["delta"].get("text", event["delta"].get("partial_json"))
            case "content_block_stop":
                over.add(at)
            case "message_stop":
                assert len(over) == len(blocks)
    assert list(blocks.values()) == clean(turn)


@given(TURNS)
def test_items_of_responses(turn: list[Any]) -> None:
    pieces: dict[int, str] = {}
    done: dict[int, str] = {}
    last: list[str] = []
    for event in judged(Responses(turn, "m").events()):
        at = event.get("output_index")
        if event["type"] == "response.output_item.added":
            assert at == len(pieces)
            pieces[at] = ""
        elif event["type"].endswith(".delta"):
            assert at not in done
            pieces[at] += event["delta"]
        elif event["type"] in (
            "response.output_text.done",
            "response.function_call_arguments.done",
        ):
            done[at] = event.get("text", event.get("arguments"))
        elif event["type"] == "response.completed":
            assert event["response"]["tool_choice"] == "auto"
            last = [
                item.get("arguments", item.get("content", [{}])[0].get("text"))
                for item in event["response"]["output"]
            ]
    assert list(pieces.values()) == list(done.values()) == last == clean(turn)


@given(TURNS, st.booleans())
@example(turn=[Say(["a ", "", "b c. "])], at_once=True)
@example(turn=[Say([KEY[:8], "", KEY[8:] + " "])], at_once=True)
def test_deltas_of_chat_completions(turn: list[Any], at_once: bool) -> None:
    chat = Chat(turn, "m")
    events = list(chat.events())
    if at_once and not chat.calls:  # some providers say with the last text that it is the last
        ends = events.pop(-3)
        events[-3]["choices"][0]["finish_reason"] = ends["choices"][0]["finish_reason"]
    calls: dict[int, str] = {}
    said, over = "", False
    for event in judged(iter(events)):
        for choice in event["choices"]:
            assert not over
            said += choice["delta"].get("content", "")
            for call in choice["delta"].get("tool_calls", []):
                assert "id" in call or call["index"] in calls, "its arguments came before the call"
                calls[call["index"]] = calls.get(call["index"], "") + call["function"]["arguments"]
            over = choice["finish_reason"] is not None
    assert over
    whole = SHIELD.run("ann").model(lambda _messages: chat.whole(), ["hello"])["choices"][0][
        "message"
    ]["content"]
    assert said == ("" if whole is None else whole), "it is what it would be at once"
    parts = zip(clean(turn), turn, strict=True)
    assert list(calls.values()) == [text for text, part in parts if isinstance(part, Call)]


def test_the_whole_reply_is_every_text_of_it() -> None:
    heard: list[str] = []

    class Listens:
        id = "listens"
        stages = (Stage.MODEL_REPLY,)

        def judge(self, event: Any) -> None:
            heard.append(event.text)

    run = Shield.load({"name": "p"}, guards=[Listens()], store="memory:").run("ann")
    turn = [Say(["one ", "text"]), Call("look", {}), Say(["another"])]
    list(run.model(lambda _messages: Messages(turn, "m").events(), ["hello"]))
    run.model(lambda _messages: Messages(turn, "m").whole(), ["hello"])
    assert heard == ["one text\nanother"] * 2


@pytest.mark.parametrize("kind", ["ping", "response.output_text.annotation.added"])
def test_what_comes_between_pieces_ends_nothing(kind: str) -> None:
    halves = Messages([Say([KEY[:8], KEY[8:]])], "m").events()
    events = [one for event in halves for one in (event, {"type": kind})]
    said = [
        event["delta"]["text"]
        for event in judged(iter(events))
        if event["type"] == "content_block_delta"
    ]
    assert "".join(said) == GONE

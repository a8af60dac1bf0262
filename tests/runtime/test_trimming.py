"""Trimmed conversations: the newest messages, all instructions, and no result without the call that
asked for it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion.runtime.deciding.degrade import trimmed


def said(role: str, words: str) -> dict[str, Any]:
    return {"role": role, "content": words}


def calls(*names: str) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": name, "type": "function"} for name in names],
    }


def came(name: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": name, "content": f"result of {name}"}


SYSTEM = said("system", "be brief")
CHAT = [
    said("user", "one"),
    said("assistant", "two"),
    said("user", "three"),
    said("assistant", "four"),
]
LAST = said("user", "five")


@pytest.mark.parametrize(
    ("keep", "kept"),
    [
        (1, [LAST]),
        (2, [LAST]),
        (3, [*CHAT[2:], LAST]),
        (4, [*CHAT[2:], LAST]),
        (5, [*CHAT, LAST]),
        (99, [*CHAT, LAST]),
    ],
)
def test_a_chat_keeps_its_newest_messages_and_begins_with_somebody_else(
    keep: int, kept: list[Any]
) -> None:
    assert trimmed([*CHAT, LAST], keep) == kept


def test_instructions_stay_wherever_they_stand() -> None:
    guidance = said("developer", "answer with one word")
    messages = [SYSTEM, *CHAT, guidance, LAST, said("system", "mind the budget")]
    assert trimmed(messages, 1) == [SYSTEM, guidance, LAST, said("system", "mind the budget")]


def test_what_was_asked_stays_while_an_agent_works_on_it() -> None:
    """The user spoke once, long ago: without that the rest makes no sense."""
    work = [message for number in range(9) for message in (calls(f"c{number}"), came(f"c{number}"))]
    assert trimmed([SYSTEM, LAST, *work], 4) == [SYSTEM, LAST, *work[-4:]]


@pytest.mark.parametrize("keep", [1, 2, 3])
def test_a_result_keeps_its_call_and_what_else_that_asked_for(keep: int) -> None:
    work = [calls("old"), came("old"), calls("a", "b", "c"), came("a"), came("b"), came("c")]
    assert trimmed([LAST, *work], keep) == [LAST, *work[2:]]


ANTHROPIC = [
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "hm"}, {"type": "tool_use", "id": "t1", "name": "ls"}],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a file"}],
    },
]
RESPONSES = [
    {"type": "function_call", "call_id": "f1", "name": "ls", "arguments": "{}"},
    {"type": "function_call", "call_id": "f2", "name": "pwd", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "f1", "output": "a file"},
    {"type": "function_call_output", "call_id": "f2", "output": "/"},
]
GEMINI = [
    {"role": "model", "parts": [{"functionCall": {"name": "ls"}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "ls", "response": {}}}]},
]
OLD_OPENAI = [
    {"role": "assistant", "content": None, "function_call": {"name": "ls", "arguments": "{}"}},
    {"role": "function", "name": "ls", "content": "a file"},
]


@pytest.mark.parametrize(
    "exchange",
    [ANTHROPIC, RESPONSES, GEMINI, OLD_OPENAI],
    ids=["blocks", "items", "parts", "roles"],
)
@pytest.mark.parametrize("keep", [1, 2, 3])
def test_calls_and_results_stay_together_in_every_format(exchange: list[Any], keep: int) -> None:
    assert trimmed([*CHAT, LAST, *CHAT[1::2], *exchange], keep)[-len(exchange) :] == exchange
    assert trimmed([*CHAT, LAST, *exchange], keep)[0] == LAST


def test_a_result_that_comes_late_keeps_what_lies_between() -> None:
    late = [calls("a"), said("user", "are you still there?"), came("a")]
    assert trimmed([LAST, said("assistant", "yes"), *late], 2) == [LAST, *late]


def test_texts_and_strange_things_are_messages_of_somebody_else() -> None:
    assert trimmed(["one", "two", 3], 2) == ["two", 3]
    assert trimmed([{"role": 7}, {"content": "x"}], 1) == [{"content": "x"}]
    assert trimmed([], 1) == []


def test_a_model_that_talks_to_itself_keeps_its_newest_words() -> None:
    alone = [said("assistant", word) for word in "abc"]
    assert trimmed(alone, 2) == alone[1:]


def test_a_result_without_a_call_stands_alone() -> None:
    assert trimmed([came("x"), came("y")], 1) == [came("x"), came("y")][1:]


TURNS = st.lists(
    st.sampled_from(["system", "user", "assistant", "one", "two", "user-late"]), max_size=12
)


def conversation(turns: list[str]) -> list[Any]:
    """Messages of several kinds of turns, each with its place in it."""
    messages: list[Any] = []
    for number, turn in enumerate(turns):
        match turn:
            case "one":
                messages += [calls(f"{number}a"), came(f"{number}a")]
            case "two":
                messages += [
                    calls(f"{number}a", f"{number}b"),
                    came(f"{number}b"),
                    came(f"{number}a"),
                ]
            case "user-late":
                messages += [calls(f"{number}a"), said("user", f"{number}"), came(f"{number}a")]
            case _:
                messages.append(said(turn, f"{number}"))
    return messages


@given(turns=TURNS, keep=st.integers(1, 8))
def test_whatever_is_trimmed_makes_sense(turns: list[str], keep: int) -> None:
    messages = conversation(turns)
    kept = trimmed(messages, keep)
    places = [messages.index(message) for message in kept]
    assert places == sorted(set(places)), "in their order, each once"
    assert [m for m in kept if m["role"] == "system"] == [
        m for m in messages if m["role"] == "system"
    ]
    others = [m for m in messages if m["role"] != "system"]
    assert not others or others[-1] in kept
    asked = {call["id"] for message in kept for call in message.get("tool_calls", ())}
    answered = {message["tool_call_id"] for message in kept if message["role"] == "tool"}
    assert asked == answered
    left = [m for m in kept if m["role"] != "system"]
    spoken = [m for m in others if m["role"] == "user"]
    assert (
        not left
        or not spoken
        or left[0]["role"] == "user"
        or messages.index(spoken[0]) > messages.index(left[0])
    )
    assert len(others) > keep or kept == messages

"""Payloads: a rule is told the same of an event, whether a planner reports it or a run carries it
out."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from stanchion import Refused
from stanchion.dialects.penguiflow import GuardrailGateway, RetrySpec
from tests.dialects.penguiflow.planner import DRIVERS, Driver, Rule, decides, gateway_of

ASKED = [{"role": "user", "content": "hello"}]


def fails() -> None:
    raise LookupError("no such row")


def told(gateway: GuardrailGateway, rule: Rule, event_type: str) -> list[dict[str, Any]]:
    """What the rule was told in payloads that a run itself knows."""
    gateway.close()
    known = {"task_scope", "last_assistant", "conversation_history"}
    seen = [event.payload for event, _ in rule.seen if event.event_type == event_type]
    return [
        {name: value for name, value in payload.items() if name not in known} for payload in seen
    ]


@pytest.mark.parametrize("driver", DRIVERS)
def test_a_request_has_its_messages_and_its_model_and_an_answer_is_final(driver: Driver) -> None:
    rule = Rule("own")
    gateway = gateway_of(rule)
    run = gateway.run("r")
    if driver == "sync":
        run.model(lambda _: "hi", list(ASKED), model="small")
    else:

        async def model(_: Any) -> str:
            return "hi"

        asyncio.run(run.amodel(model, list(ASKED), model="small"))
    assert told(gateway, rule, "llm_before") == [{"messages": ASKED, "model": "small"}]
    assert [
        event.payload["final"] for event, _ in rule.seen if event.event_type == "llm_stream_chunk"
    ] == [True]


def test_a_reply_that_is_not_the_answer_is_not_final() -> None:
    rule = Rule("own", events=("llm_stream_chunk",))
    gateway = gateway_of(rule)
    gateway.run("r").model(lambda _: "hi", list(ASKED), final=False)
    assert told(gateway, rule, "llm_stream_chunk") == [{"final": False}]


def test_a_rule_that_looks_at_final_answers_alone_is_heard_in_a_run() -> None:
    again = decides("RETRY", retry=RetrySpec(3, "Verify first."))
    rule = Rule(
        "verified",
        lambda event, _: again if event.payload.get("final") else None,
        events=("llm_stream_chunk",),
    )
    gateway = gateway_of(rule)
    asked: list[Any] = []

    def model(messages: Any) -> str:
        asked.append(messages)
        return "probably"

    with pytest.raises(Refused):
        gateway.run("r").model(model, list(ASKED))
    assert len(asked) == 4
    gateway.close()


def test_pieces_have_their_channel_and_number_and_the_whole_is_told_from_them() -> None:
    rule = Rule("own", events=("llm_stream_chunk",))
    gateway = gateway_of(rule)
    assert "".join(gateway.run("r").stream(["one ", "two "])) == "one two "
    *pieces, whole = told(gateway, rule, "llm_stream_chunk")
    assert [piece["channel"] for piece in pieces] == ["text"] * len(pieces)
    assert [piece["index"] for piece in pieces] == sorted({piece["index"] for piece in pieces})
    assert whole == {"final": True}


def test_a_result_is_data_and_a_failure_has_its_error() -> None:
    rule = Rule("own", events=("tool_call_result",))
    gateway = gateway_of(rule)
    run = gateway.run("r")
    run.call(lambda: {"rows": [1]})
    with pytest.raises(LookupError):
        run.call(fails)
    assert told(gateway, rule, "tool_call_result") == [
        {"result": {"rows": [1]}},
        {"error": "LookupError"},
    ]

"""Data that holds itself or is too deep: a STOP wherever an event has it, as in the arguments of a
call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from stanchion import Refused
from stanchion.dialects.penguiflow import GatewayConfig, GuardrailEvent, SecretRedactionRule
from tests.dialects.penguiflow.planner import (
    DRIVERS,
    Driver,
    Rule,
    asks,
    call,
    gateway_of,
    judged,
    result,
)


def itself() -> Any:
    """Holds itself, and more than once: its paths cannot be counted."""
    made: dict[str, Any] = {}
    made |= {"me": made, "again": made}
    return made


def deep(levels: int = 150) -> Any:
    made: Any = "end"
    for _ in range(levels):
        made = [made]
    return made


def shared() -> Any:
    """Not deep, and has more values than can be counted."""
    made: Any = ["end"]
    for _ in range(60):
        made = [made, made]
    return made


def start(payload: dict[str, Any]) -> GuardrailEvent:
    return GuardrailEvent("tool_call_start", "r", tool_name="look", tool_args={}, payload=payload)


DATA: dict[str, Callable[[], Any]] = {"holds itself": itself, "too deep": deep}
EVENTS: dict[str, Callable[[Any], GuardrailEvent]] = {
    "arguments": lambda data: call(x=data),
    "a result": lambda data: result("", result=data),
    "a result and a text": lambda data: result("found", result=data),
    "a result of such arguments": lambda data: GuardrailEvent(
        "tool_call_result", "r", "found", "look", {"x": data}, {"result": 1}
    ),
    "a failure and a result": lambda data: result("", error="LookupError", result=data),
    "messages": lambda data: asks("hi", messages=[{"role": "user", "content": data}]),
    "beside a request": lambda data: asks("hi", note=data),
    "beside a call": lambda data: start({"note": data}),
    "beside a result": lambda data: result("found", note=data),
    "beside a piece": lambda data: GuardrailEvent(
        "llm_stream_chunk", "r", "hi", payload={"note": data}
    ),
}


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("place", EVENTS)
@pytest.mark.parametrize("data", DATA)
def test_an_event_that_cannot_be_read_is_a_stop(data: str, place: str, driver: Driver) -> None:
    rule = Rule("own")
    gateway = gateway_of(rule, SecretRedactionRule())
    said = judged(gateway, EVENTS[place](DATA[data]()), driver)
    assert said.action == "STOP"
    assert said.stop is not None
    assert said.stop.error_code == "KERNEL_BAD_EVENT"
    assert "the event cannot be read: it " in said.reason
    assert "note" not in {name for event, _ in rule.seen for name in event.payload}
    assert judged(gateway, asks("hi"), driver).action == "STOP", "the run is over"
    gateway.close()


def test_what_has_more_values_than_can_be_counted_is_a_stop() -> None:
    gateway = gateway_of(Rule("own"))
    assert "more than 200,000 values" in judged(gateway, start({"note": shared()})).reason
    gateway.close()


def test_a_gateway_in_shadow_stops_it_as_well() -> None:
    for place in ("arguments", "a result", "messages", "beside a call"):
        gateway = gateway_of(config=GatewayConfig(mode="shadow"))
        assert judged(gateway, EVENTS[place](itself())).action == "STOP", place
        gateway.close()


@pytest.mark.parametrize("place", EVENTS)
def test_what_is_deep_and_can_be_read_goes_ahead(place: str) -> None:
    rule = Rule("own")
    gateway = gateway_of(rule)
    assert judged(gateway, EVENTS[place](deep(90))).action == "ALLOW"
    assert rule.seen
    gateway.close()


def test_a_text_that_is_too_deep_beside_a_result_is_a_text() -> None:
    gateway = gateway_of()
    assert judged(gateway, result("[" * 100_000, result=[])).action == "ALLOW"
    gateway.close()


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("data", DATA)
def test_a_run_refuses_it_as_well(data: str, driver: Driver) -> None:
    gateway = gateway_of(Rule("own"))
    run, given = gateway.run("r"), DATA[data]()

    async def tool() -> Any:
        return given

    async def model(_: Any) -> str:
        return "hi"

    request = [{"role": "user", "content": given}]
    with pytest.raises(Refused, match="the event cannot be read: it "):
        run.call(lambda: given) if driver == "sync" else asyncio.run(run.acall(tool))
    with pytest.raises(Refused, match="the event cannot be read: it "):
        run.model(lambda _: "hi", request) if driver == "sync" else asyncio.run(
            run.amodel(model, request)
        )
    gateway.close()

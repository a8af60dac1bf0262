"""API calls of requests, estimates of handoffs and the duration of a call count."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from stanchion import Decision, Refused
from stanchion.testing import FakeClock, shield_for
from tests.hosts.http.clients import CLIENTS, Ask
from tests.hosts.http.servers import Server, serving


@pytest.fixture
def outside() -> Iterator[Server]:
    """A server that counts its requests."""
    with serving() as server:
        yield server


def policy(*guards: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": "p",
        "tools": {"fetch": {"annotations": ["open_world"]}},
        "guards": list(guards),
    }


def left(run: Any, most: int = 20) -> int:
    """How many API calls a budget still has."""
    return next(
        number for number in range(most, -1, -1) if run.check("ask", {}, api_calls=number).proceeds
    )


@pytest.mark.parametrize("client", CLIENTS)
def test_a_request_through_a_transport_is_an_api_call(client: str, outside: Server) -> None:
    run = shield_for(
        policy({"use": "budget", "id": "budget-003", "api_calls": 2, "per": "task"})
    ).run("a", "task")
    ask = Ask(f"http://127.0.0.1:{outside.port}/")
    CLIENTS[client](run, ask, ask)
    with pytest.raises(Refused) as refused:
        CLIENTS[client](run, ask)
    assert refused.value.decision.code == "budget.exceeded"
    assert (
        refused.value.decision.message
        == "this would exceed the 2 API calls of this task: 2 used or reserved"
    )
    assert len(outside.got) == 2


@pytest.mark.parametrize(
    ("tool", "sends", "counted"), [("fetch", 1, 1), ("fetch", 3, 3), ("fetch", 0, 1), ("t", 2, 2)]
)
def test_what_a_tool_has_reserved_covers_its_first_request(
    tool: str, sends: int, counted: int, outside: Server
) -> None:
    """`fetch` reaches outside by its annotation and reserves one API call; it is not counted
    twice."""
    run = shield_for(policy({"use": "budget", "api_calls": 10})).run("a")
    asks = [Ask(f"http://127.0.0.1:{outside.port}/")] * sends

    def work() -> None:
        CLIENTS["requests"](run, *asks)

    work.__name__ = tool
    run.call(work)
    assert 10 - left(run) == counted


def test_a_handoff_begins_only_where_something_is_left() -> None:
    some: Any
    for measure, some in (
        ("tokens", 100),
        ("cost_usd", 1.0),
        ("api_calls", 3),
        ("duration_s", 5.0),
    ):
        run = shield_for(policy({"use": "budget", measure: some})).run("a")
        assert run.handoff("other", {}).proceeds
        assert run.handoff_done("other").proceeds
        run = shield_for(policy({"use": "budget", measure: some})).run("a")
        assert run.check("work", {}, **{measure: some}).proceeds
        decision = run.handoff("other", {})
        assert (measure, decision.code) == (measure, "budget.exceeded")


def test_a_handoff_has_an_estimate() -> None:
    run = shield_for(policy({"use": "budget", "tokens": 1_000})).run("a")
    assert not run.handoff("other", {}, tokens=1_001).proceeds
    decision = run.handoff("other", {}, tokens=900)
    assert decision.proceeds
    assert not run.check("work", {}, tokens=200).proceeds
    run.handoff_done("other", call=decision.id, tokens=100)
    assert run.check("work", {}, tokens=900).proceeds


@pytest.mark.parametrize("way", ["check", "model_call", "handoff"])
def test_a_time_limit_goes_by_the_duration_of_the_call(way: str) -> None:
    clock = FakeClock()
    run = shield_for(policy({"use": "time_limit", "max_s": 100}), clock=clock).run("a")
    begin: Callable[..., Decision] = {
        "check": partial(run.check, "t", {}),
        "model_call": partial(run.model_call, [], "m"),
        "handoff": partial(run.handoff, "b", {}),
    }[way]
    assert begin(duration_s=101).code == "time.exceeded"
    assert begin(duration_s=60).proceeds
    clock.advance(50_000)
    refused = begin(duration_s=60)
    assert refused.code == "time.exceeded"
    assert refused.message.endswith("from its first action, with 60 for this one")
    assert begin(duration_s=50).proceeds
    assert begin().proceeds

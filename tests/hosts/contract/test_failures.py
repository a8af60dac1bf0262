"""Whose failure it is: a host's own goes on to it, ours is a refusal in its words, and a failed
result is an error."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import msgspec
import pytest

from stanchion.hosts import EVERYTHING, Host
from stanchion.testing import shield_for
from stanchion.testing.host_suite.scene import FailingClock
from tests.hosts.contract.loops import CALLS, LOOP, REPORTS, Asked, Message, put_back, said
from tests.hosts.contract.test_calls import KEY

BARE: dict[str, Any] = {"name": "bare"}
SECRETS: dict[str, Any] = {"name": "s", "guards": [{"use": "secrets"}]}
MARKS = Host(
    "marks",
    can=EVERYTHING,
    refused=said("refused"),
    shown=lambda message: message.content,
    changed=put_back,
    failed=lambda message: message.kind == "failed",
)


@pytest.fixture(params=CALLS)
def call(request: pytest.FixtureRequest) -> Any:
    """One of the ways to call."""
    return CALLS[request.param]


def kept(shield: Any) -> list[tuple[str, str]]:
    """The decisions of a shield."""
    return [(one.stage, one.action) for one in (entry.read() for entry in shield.journal.kept())]


def test_a_result_that_the_host_marks_as_failed_is_an_error(call: Any) -> None:
    shield = shield_for(SECRETS)
    hosted = MARKS.run(shield, "ann")
    whole = Message("c1", "no such page", "failed")
    assert call(hosted, "read", {}, lambda args: whole) is whole
    assert [stage for stage, _ in kept(shield)] == ["tool_call", "error", "tool_result"]
    made = call(
        hosted,
        "read",
        {},
        lambda args: Message("c1", f"no page with {KEY}", "failed", artifact=KEY),
    )
    assert (made.kind, made.content, made.artifact) == (
        "failed",
        "no page with [redacted:github-pat]",
        None,
    )


def test_a_result_that_only_looks_like_a_marked_one_keeps_its_shape(call: Any) -> None:
    hosted = MARKS.run(shield_for(SECRETS), "ann")
    said = {"isError": True, "content": f"no page with {KEY}", "code": 7}
    made = call(hosted, "read", {}, lambda args: Message("c1", said))
    assert made.content == {
        "isError": True,
        "content": "no page with [redacted:github-pat]",
        "code": 7,
    }


def test_a_failure_counts_as_one(call: Any) -> None:
    """A breaker opens at failures alone: the host's mark is what it counts."""
    breaker = {"use": "breaker", "failure_threshold": 2}
    hosted = MARKS.run(shield_for({"name": "b", "guards": [breaker]}), "ann")
    results = [
        call(hosted, "read", {"n": n}, lambda args: Message("c", "down", "failed")).kind
        for n in range(3)
    ]
    assert results == ["failed", "failed", "refused"]


@pytest.mark.parametrize("error", [LookupError("gone"), StopIteration("over"), OSError("x")])
def test_what_the_tool_raises_is_its_own(call: Any, error: Exception) -> None:
    def carry(args: dict[str, Any]) -> Any:
        raise error

    wanted = RuntimeError if isinstance(error, StopIteration) else type(error)
    with pytest.raises((wanted, StopIteration)):
        call(LOOP.run(shield_for(BARE), "ann"), "read", {}, carry)


def test_what_fails_on_our_side_before_a_call_is_a_refusal(
    call: Any, caplog: pytest.LogCaptureFixture
) -> None:
    clock = FailingClock()
    ran: list[Any] = []
    hosted = LOOP.run(shield_for(BARE, clock=clock), "ann")
    clock.broken = True
    with caplog.at_level(logging.WARNING):
        made = call(hosted, "read", {}, ran.append, about=Asked("c1"))
    assert (made.id, made.kind, ran) == ("c1", "refused", [])
    assert "judging it failed with `RuntimeError`" in made.content
    assert "the clock is broken" in caplog.text
    assert "the clock" not in made.content


def test_what_fails_on_our_side_after_it_withholds_the_result(call: Any) -> None:
    clock = FailingClock()

    def carry(args: dict[str, Any]) -> Any:
        clock.broken = True
        return "forty-two"

    made = call(
        LOOP.run(shield_for(BARE, clock=clock), "ann"), "read", {}, carry, about=Asked("c1")
    )
    assert made.kind == "refused"
    assert "forty-two" not in made.content


@pytest.mark.parametrize("part", ["shown", "changed", "failed"])
def test_a_result_whose_shape_cannot_be_kept_is_withheld(call: Any, part: str) -> None:
    def breaks(_: Any) -> Any:
        raise TypeError("an unknown shape")

    host = msgspec.structs.replace(MARKS, **{part: breaks})
    made = call(
        host.run(shield_for(SECRETS), "ann"),
        "read",
        {},
        lambda args: Message("c1", KEY),
        about=Asked("c1"),
    )
    assert (made.id, made.kind) == ("c1", "refused")
    assert KEY not in made.content


@pytest.mark.parametrize("awaited", [False, True], ids=["sync", "async"])
def test_a_model_that_nobody_can_judge_is_a_refusal(awaited: bool) -> None:
    clock = FailingClock()
    asked: list[Any] = []
    hosted = LOOP.run(shield_for(BARE, clock=clock), "ann")

    def model(messages: Any) -> str:
        asked.append(messages)
        clock.broken = True
        return "the reply"

    async def amodel(messages: Any) -> str:
        return model(messages)

    def ask() -> Any:
        if awaited:
            return asyncio.run(hosted.amodel(amodel, ["hello"], about=Asked("m1")))
        return hosted.model(model, ["hello"], about=Asked("m1"))

    for _ in range(2):
        made = ask()
        assert (made.id, made.kind) == ("m1", "refused")
        assert "the reply" not in made.content
    assert len(asked) == 1


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_a_reply_is_charged_once_however_often_it_is_reported(report: Any) -> None:
    shield = shield_for({"name": "b", "guards": [{"use": "budget", "tokens": 100}]})
    hosted = LOOP.run(shield, "ann")
    for tokens in (40, 40, 45):
        assert report(hosted, "charge", tokens=tokens, key="reply-1").proceeds
    assert report(hosted, "tool_call", tool="t", args={}, key="reply-1").proceeds
    assert report(hosted, "charge", tokens=60, key="reply-2").proceeds
    assert not report(hosted, "charge", tokens=1, key="reply-3").proceeds

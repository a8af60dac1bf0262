"""An approval covers one action to the last argument, under one policy, and nothing that differs in anything."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from stanchion.approvals.digest import BEGINS, MOST_BYTES, bounded, digest_of
from stanchion.kernel.actions import Risk
from stanchion.kernel.events import Egress, Event, Handoff, ModelCall, ModelReply, Prompt, RunInfo, ToolCall, ToolResult

RUN = RunInfo("r1", "bot", task="t", tenant="acme")
CALL = ToolCall(id="c1", at=1, run=RUN, tool="pay", args={"to": "x", "amount": 5})


def run(**other: Any) -> RunInfo:
    return msgspec.structs.replace(RUN, **other)


@pytest.mark.parametrize(
    ("event", "policy"),
    [
        (msgspec.structs.replace(CALL, tool="pay2"), "p"),
        (msgspec.structs.replace(CALL, args={"to": "x", "amount": 6}), "p"),
        (msgspec.structs.replace(CALL, args={"to": "x", "amount": "5"}), "p"),
        (msgspec.structs.replace(CALL, args={"to": "x", "amount": 5, "more": None}), "p"),
        (msgspec.structs.replace(CALL, run=run(agent="other")), "p"),
        (msgspec.structs.replace(CALL, run=run(task="other")), "p"),
        (msgspec.structs.replace(CALL, run=run(tenant="other")), "p"),
        (CALL, "another policy"),
        (ToolResult(id="c1", at=1, run=RUN, tool="pay", result={"to": "x", "amount": 5}), "p"),
    ],
)
def test_whatever_differs_is_another_action(event: Event, policy: str) -> None:
    assert digest_of(event, policy) != digest_of(CALL, "p")


@pytest.mark.parametrize(
    "event",
    [
        msgspec.structs.replace(CALL, id="c2", at=99, call="c0", risk=Risk.CRITICAL),
        msgspec.structs.replace(CALL, run=run(id="r2", parents=("r0",))),
        msgspec.structs.replace(CALL, args={"amount": 5, "to": "x"}),
    ],
)
def test_the_same_action_of_another_time_or_run_is_the_same(event: Event) -> None:
    assert digest_of(event, "p") == digest_of(CALL, "p")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Egress(id="e", at=1, run=RUN, url="u"), {"method": "DELETE"}),
        (Egress(id="e", at=1, run=RUN, url="u"), {"payload": {"a": 1}}),
        (Handoff(id="e", at=1, run=RUN, to="x"), {"to": "y"}),
        (Prompt(id="e", at=1, run=RUN, text="x"), {"trusted": False}),
        (ModelCall(id="e", at=1, run=RUN, model="m"), {"model": "n"}),
        (ModelReply(id="e", at=1, run=RUN, text="x"), {"final": True}),
    ],
)
def test_what_stands_beside_the_content_counts(one: Event, other: dict[str, Any]) -> None:
    assert digest_of(one, "p") != digest_of(msgspec.structs.replace(one, **other), "p")


def test_content_that_is_too_long_is_told_by_its_beginning() -> None:
    fits, long = "a" * (MOST_BYTES - 2), "a" * (MOST_BYTES - 1)
    assert bounded(fits) is fits
    told = bounded(long)
    assert told["$bytes"] == MOST_BYTES + 1
    assert len(told["$sha256"]) == 64
    assert told["$begins"] == '"' + "a" * (BEGINS - 1)

"""An approval covers one action to the last argument, under one policy, and nothing that differs in
anything."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from stanchion.approvals.digest import BEGINS, MOST_BYTES, Deed, bounded, deed_of, is_whole
from stanchion.approvals.ticket import id_of
from stanchion.kernel.actions import Risk
from stanchion.kernel.content import content_of
from stanchion.kernel.events import (
    Egress,
    Event,
    Handoff,
    ModelCall,
    ModelReply,
    Prompt,
    RunInfo,
    ToolCall,
    ToolResult,
)

RUN = RunInfo("r1", "bot", task="t", tenant="acme")
CALL = ToolCall(id="c1", at=1, run=RUN, tool="pay", args={"to": "x", "amount": 5})


def run(**other: Any) -> RunInfo:
    return msgspec.structs.replace(RUN, **other)


def deed(event: Event, policy: str = "p", guards: tuple[str, ...] = ("g",)) -> Deed:
    return deed_of(event, policy, guards, content_of(event))


DIFFERENT = [
    (msgspec.structs.replace(CALL, tool="pay2"), "p", ("g",)),
    (msgspec.structs.replace(CALL, args={"to": "x", "amount": 6}), "p", ("g",)),
    (msgspec.structs.replace(CALL, args={"to": "x", "amount": "5"}), "p", ("g",)),
    (msgspec.structs.replace(CALL, args={"to": "x", "amount": 5, "more": None}), "p", ("g",)),
    (msgspec.structs.replace(CALL, run=run(task="other")), "p", ("g",)),
    (msgspec.structs.replace(CALL, run=run(tenant="other")), "p", ("g",)),
    (CALL, "another policy", ("g",)),
    (CALL, "p", ("g", "another guard")),
    (CALL, "p", ()),
    (ToolResult(id="c1", at=1, run=RUN, tool="pay", result={"to": "x", "amount": 5}), "p", ("g",)),
]


@pytest.mark.parametrize(("event", "policy", "guards"), DIFFERENT)
def test_whatever_differs_is_another_action(
    event: Event, policy: str, guards: tuple[str, ...]
) -> None:
    other = deed(event, policy, guards)
    assert other.digest != deed(CALL).digest
    assert id_of(other) != id_of(deed(CALL)), "so that a ticket about it is another one"


@pytest.mark.parametrize(
    "event",
    [
        msgspec.structs.replace(CALL, id="c2", at=99, call="c0"),
        msgspec.structs.replace(CALL, run=run(id="r2", parents=("r0",))),
        msgspec.structs.replace(CALL, run=run(agent="other")),
        msgspec.structs.replace(CALL, args={"amount": 5, "to": "x"}),
    ],
)
def test_the_same_action_of_another_time_run_or_agent_is_the_same(event: Event) -> None:
    assert deed(event) == deed(CALL)


@pytest.mark.parametrize(
    "worse",
    [{"risk": Risk.CRITICAL}, {"traits": ("irreversible",)}, {"traits": ("privilege",)}],
)
def test_what_has_become_worse_is_the_same_ticket_and_not_what_was_signed(
    worse: dict[str, Any],
) -> None:
    other = deed(msgspec.structs.replace(CALL, **worse))
    assert id_of(other) == id_of(deed(CALL))
    assert other.digest != deed(CALL).digest


def test_what_is_shown_is_part_of_what_is_signed() -> None:
    assert deed_of(CALL, "p", ("g",), {"to": "x", "amount": 1}).digest != deed(CALL).digest


def test_each_argument_has_a_hash_of_its_own() -> None:
    parts, other = (
        deed(CALL).parts,
        deed(msgspec.structs.replace(CALL, args={"to": "x", "amount": 6})).parts,
    )
    assert parts["to"] == other["to"]
    assert parts["amount"] != other["amount"]
    assert len(set(deed(msgspec.structs.replace(CALL, args={"a": 1, "b": 1})).parts.values())) == 2


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
    assert deed(one).what != deed(msgspec.structs.replace(one, **other)).what


def test_content_that_is_too_long_is_told_by_its_beginning() -> None:
    fits, long = "a" * (MOST_BYTES - 2), "a" * (MOST_BYTES - 1)
    assert bounded(fits) is fits
    assert is_whole(bounded(fits))
    told = bounded(long)
    assert told["$bytes"] == MOST_BYTES + 1
    assert len(told["$sha256"]) == 64
    assert told["$begins"] == '"' + "a" * (BEGINS - 1)
    assert not is_whole(told)

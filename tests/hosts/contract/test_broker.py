"""A host works the same where a broker judges."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from threading import Event
from typing import Any

import pytest

from stanchion import Action, Shield, Stage, Tool
from stanchion.hosts import Host, Works, as_text
from stanchion.hosts.contract.works import MOST_THROUGH_A_BROKER
from stanchion.ops.broker import brokered_runs
from stanchion.runtime.remote.errors import NotThroughBroker
from tests.hosts.contract.loops import CALLS, LOOP, MESSAGES, REPORTS, Asked, Message
from tests.hosts.contract.test_calls import KEY
from tests.ops.broker.brokers import serving
from tests.runtime.guards import says

POLICY: dict[str, Any] = {
    "name": "b",
    "guards": [{"use": "secrets"}, {"use": "budget", "tokens": 100}],
}


@pytest.fixture
def far() -> Iterator[Any]:
    """A shield behind a broker, which refuses the tool `no` and ends the run at `end`."""
    no = says(Action.BLOCK, Stage.TOOL_CALL, id="no", tools=frozenset({"no"}))
    end = says(Action.HALT, Stage.TOOL_CALL, id="end", tools=frozenset({"end"}))
    with Shield.load(POLICY, guards=[no, end]) as shield, serving(shield) as path:
        far: Any = Shield.load(f"broker:{path}")
        with far:
            yield far


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_around_a_call(far: Any, call: Any) -> None:
    with MESSAGES.run(far, "ann") as hosted:
        made = call(
            hosted, "read", {"a": 1}, lambda args: Message("c1", f"{args} {KEY}", artifact=KEY)
        )
        assert made.content.startswith("{'a': 1}")
        assert KEY not in made.content
        assert made.artifact is None
        ran: list[Any] = []
        assert call(hosted, "no", {}, ran.append, about=Asked("c2")).kind == "refused"
        tool = Tool(str, "put", undo=lambda **args: ran.append(args))
        call(hosted, tool, {"a": 1}, lambda args: Message("c3", "x"))
        hosted.run.rollback()
        assert ran == [{"a": 1}]
        assert call(hosted, "end", {}, str).kind == "ended"


@pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)
def test_reports(far: Any, report: Any) -> None:
    with LOOP.run(far, "ann") as hosted:
        asked: dict[str, Any] = {"tool": "t", "args": {"a": 1}, "tokens": 90, "key": "c1"}
        told = report(hosted, "tool_call", **asked)
        assert told.content == {"a": 1}
        assert report(hosted, "tool_call", **asked) is told
        told = report(
            hosted, "tool_result", tool="t", args={"a": 1}, result=f"is {KEY}", tokens=10, key="c1"
        )
        assert KEY not in told.content
        assert report(hosted, "tool_call", tool="t", args={}, tokens=80).proceeds
        assert report(hosted, "tool_call", tool="no", args={}).answer.kind == "refused"
        assert report(hosted, "tool_call", tool="t", args=[1]).decision.code == "kernel.bad_event"
        told = report(hosted, "error", tool="t", error=OSError(f"with {KEY}"))
        assert told.content.startswith("with ")
        assert KEY not in told.content


def test_threads_and_invocations_leave_room_for_others(
    far: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(brokered_runs, "MOST_RUNS", MOST_THROUGH_A_BROKER + 1)
    works = Works(LOOP, far, lambda hosted: hosted)
    for number in range(MOST_THROUGH_A_BROKER + 5):
        assert works.at(f"t{number}").report("prompt", text="hello").proceeds
    for _ in range(5):
        invocation = Event()  # stands for what a framework makes once for an invocation
        assert works.tied(invocation).report("prompt", text="hello").proceeds
        del invocation
        gc.collect()


def test_a_thread_that_was_halted_stays_so(far: Any) -> None:
    works = Works(LOOP, far, lambda hosted: hosted)
    assert works.at("halted").report("tool_call", tool="end", args={}).answer is not None
    assert works.at("older").report("prompt", text="hello").proceeds
    for number in range(MOST_THROUGH_A_BROKER):
        works.at(f"t{number}")
    assert not works.at("halted").report("prompt", text="hello").proceeds
    assert works.at("older").report("prompt", text="hello").proceeds


def test_what_the_host_can_is_told_to_the_broker(far: Any) -> None:
    plain = Host("plain", can=["warn"], refused=as_text)
    with plain.run(far, "ann") as hosted:
        assert hosted.run.can == plain.can
        assert not hosted.report("tool_result", tool="t", args={}, result=f"is {KEY}").proceeds
        assert plain.on(hosted.run.spawn("bob")).run.can == plain.can
    with pytest.raises(ValueError, match="`plain` cannot"):
        plain.on(far.run("ann"))


def test_what_a_broker_cannot_judge_as_it_comes_says_so(far: Any) -> None:
    with LOOP.run(far, "ann") as hosted:
        for wrapped in (
            lambda: hosted.model(str, ["hi"]),
            lambda: list(hosted.stream(iter(["hi"]))),
        ):
            with pytest.raises(NotThroughBroker):
                wrapped()
        assert hosted.report("model_call", messages=["hi"], tokens=10).proceeds
        assert hosted.report("model_reply", text="hi").proceeds

"""Reports: an event of any stage goes ahead with some content, or is answered in the host's words;
never raised."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from stanchion import Action, Stage
from stanchion.hosts import EVERYTHING, Host, as_text
from stanchion.kernel.findings import Patch
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, LostStore, shield_for
from tests.hosts.contract.loops import LOOP, REPORTS, Asked
from tests.hosts.contract.test_calls import KEY, RULES
from tests.runtime.guards import says

BARE = {"name": "bare"}


@pytest.fixture(params=REPORTS)
def report(request: pytest.FixtureRequest) -> Any:
    """One of the ways to report."""
    return REPORTS[request.param]


STAGES: dict[str, tuple[dict[str, Any], Any]] = {
    "prompt": ({"text": "hello"}, "hello"),
    "model_call": (
        {"messages": [{"role": "user"}]},
        {"model": "", "messages": [{"role": "user"}], "params": {}},
    ),
    "model_chunk": ({"text": "he"}, "he"),
    "model_reply": ({"text": "hello", "tokens": 3}, "hello"),
    "tool_call": ({"tool": "t", "args": {"a": 1}}, {"a": 1}),
    "tool_result": ({"tool": "t", "args": {"a": 1}, "result": [1]}, [1]),
    "egress": (
        {"url": "https://a.example/"},
        {"url": "https://a.example/", "headers": {}, "payload": None},
    ),
    "error": ({"tool": "t", "error": ValueError("broken")}, "broken"),
    "charge": ({"tokens": 5}, None),
    "handoff": ({"to": "bob", "payload": {"a": 1}}, {"a": 1}),
    "handoff_done": ({"to": "bob"}, None),
}


def test_every_stage_is_here() -> None:
    assert set(STAGES) == {stage.value for stage in Stage}


@pytest.mark.parametrize("stage", STAGES)
def test_what_goes_ahead_goes_on_as_it_is(report: Any, stage: str) -> None:
    fields, content = STAGES[stage]
    told = report(LOOP.run(shield_for(BARE), "ann"), stage, **fields)
    assert told.proceeds
    assert (told.content, told.answer, told.again) == (content, None, False)


@pytest.mark.parametrize(
    "stage", [stage for stage in STAGES if stage not in ("error", "handoff_done")]
)
def test_what_does_not_is_answered_in_the_hosts_words(report: Any, stage: str) -> None:
    guard = says(Action.BLOCK, Stage(stage))
    told = report(
        LOOP.run(shield_for(BARE, guards=[guard]), "ann"),
        stage,
        about=Asked("c1"),
        **STAGES[stage][0],
    )
    assert not told.proceeds
    assert told.content is None
    assert (told.answer.id, told.answer.kind) == ("c1", "refused")
    assert "says BLOCK" in told.answer.content


def test_words_that_raise_are_raised(report: Any) -> None:
    class Skip(Exception):
        """What the host understands."""

    def skipped(refusal: Any) -> None:
        raise Skip(str(refusal))

    host = Host("skips", can=EVERYTHING, refused=skipped)
    with pytest.raises(Skip, match="forbids"):
        report(host.run(shield_for(RULES), "ann"), "tool_call", tool="t", args={"name": "root"})


def test_what_was_changed_goes_on_changed(report: Any) -> None:
    hosted = LOOP.run(shield_for(RULES), "ann")
    text = f"the key is {KEY}"
    for stage, fields in (
        ("model_reply", {"text": text}),
        ("prompt", {"text": text, "trusted": False}),
    ):
        told = report(hosted, stage, **fields)
        assert told.proceeds
        assert KEY not in told.content
    told = report(hosted, "tool_result", tool="t", args={}, result={"a": [text], "b": 1})
    assert KEY not in str(told.content)
    assert told.content["b"] == 1


def test_a_retry_has_words_of_its_own(report: Any) -> None:
    guard = says(Action.RETRY, Stage.MODEL_REPLY, guidance="write JSON")
    told = report(LOOP.run(shield_for(BARE, guards=[guard]), "ann"), "model_reply", text="x")
    assert told.answer.kind == "retry"
    assert "write JSON" in told.answer.content


def test_a_failure_goes_on_to_the_agent_and_says_whether_to_run_it_again(report: Any) -> None:
    guards = [{"use": "recovery", "backoff_base_s": 0}, {"use": "secrets"}]
    shield = shield_for(
        {"name": "r", "tools": {"t": {"annotations": ["idempotent"]}}, "guards": guards}
    )
    hosted = LOOP.run(shield, "ann")
    told = report(
        hosted, "error", tool="t", args={}, error=ConnectionResetError(f"reset with {KEY}")
    )
    assert told.proceeds
    assert told.again
    assert KEY not in told.content
    assert told.content.startswith("reset with ")
    told = report(hosted, "error", tool="u", args={}, error="Odd", text="odd")
    assert (told.proceeds, told.again, told.content) == (True, False, "odd")


def test_a_failure_that_ends_the_run_is_said(report: Any) -> None:
    guard = says(Action.HALT, Stage.ERROR)
    hosted = LOOP.run(shield_for(BARE, guards=[guard]), "ann")
    told = report(hosted, "error", tool="t", error=OSError("gone"))
    assert (told.proceeds, told.answer.kind) == (False, "ended")


def test_a_call_is_judged_once_however_often_the_host_asks(report: Any) -> None:
    shield = shield_for({"name": "b", "guards": [{"use": "budget", "calls": 1}]})
    hosted = LOOP.run(shield, "ann")
    asked = {"tool": "t", "args": {"a": [1.0]}, "key": "c1"}
    first = report(hosted, "tool_call", **asked)
    assert report(hosted, "tool_call", **asked) is first
    assert len(list(shield.journal.kept())) == 1
    other = report(hosted, "tool_call", tool="t", args={"a": [1]}, key="c1")
    assert not other.proceeds


def test_a_refused_call_is_said_again_and_not_judged_again(report: Any) -> None:
    shield = shield_for(RULES)
    hosted = LOOP.run(shield, "ann")
    asked: dict[str, Any] = {
        "tool": "t",
        "args": {"name": "root"},
        "key": "c1",
        "about": Asked("c1"),
    }
    assert (
        report(hosted, "tool_call", **asked).answer == report(hosted, "tool_call", **asked).answer
    )
    assert len(list(shield.journal.kept())) == 1


def test_one_that_waited_for_a_person_is_judged_again(report: Any) -> None:
    shield = shield_for(RULES)
    hosted = LOOP.run(shield, "ann")
    asked: dict[str, Any] = {"tool": "t", "args": {"name": "ask"}, "key": "c1"}
    assert not report(hosted, "tool_call", **asked).proceeds
    (ticket,) = shield.tickets()
    shield.approve(ticket.id, by="bob")
    assert report(hosted, "tool_call", **asked).proceeds


def test_two_calls_that_look_the_same_and_need_not_be_are_judged_each(report: Any) -> None:
    shield = shield_for({"name": "lax", "unread": "allow"})
    hosted = LOOP.run(shield, "ann")
    for _ in range(2):
        assert report(hosted, "tool_call", tool="t", args={"a": object()}, key="c1").proceeds
    assert len(list(shield.journal.kept())) == 2


@pytest.mark.parametrize(
    ("outcome", "fields"),
    [
        ("tool_result", {"result": "x", "tokens": 10}),
        ("error", {"error": OSError("x"), "tokens": 10}),
    ],
)
def test_an_outcome_under_the_same_key_settles_its_call(
    report: Any, outcome: str, fields: dict[str, Any]
) -> None:
    """Two calls with the same arguments are told apart by the names that the host gives them."""
    shield = shield_for({"name": "b", "guards": [{"use": "budget", "tokens": 100}]})
    hosted = LOOP.run(shield, "ann")
    for key, tokens in (("c1", 20), ("c2", 80)):
        assert report(hosted, "tool_call", tool="t", args={}, tokens=tokens, key=key).proceeds
    report(hosted, outcome, tool="t", args={}, key="c2", **fields)
    (left,) = hosted.run.open_calls()
    assert left.tokens == 20
    assert report(hosted, "tool_call", tool="t", args={}, tokens=70, key="c2").proceeds


def test_what_cannot_be_read_is_refused(report: Any) -> None:
    hosted = LOOP.run(shield_for(BARE), "ann")
    bad: tuple[dict[str, Any], ...] = (
        {"tool": "t", "args": [1]},
        {"args": {}},
        {"tool": "t", "args": {}, "colour": "red"},
    )
    for fields in bad:
        told = report(hosted, "tool_call", **fields)
        assert not told.proceeds
        assert told.decision.code == "kernel.bad_event"
    told = report(hosted, "tool_result", tool="t", args={}, result="x", part="odd")
    assert told.decision.happened

    with pytest.raises(ValueError, match="nowhere"):
        report(hosted, "nowhere")


def test_what_fails_on_our_side_is_refused_and_told_to_operators(
    report: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Some hosts go ahead where a guard raises."""

    class Clock(FakeClock):
        stopped = False

        def __call__(self) -> int:
            if self.stopped:
                raise RuntimeError("the clock has stopped")
            return super().__call__()

    clock = Clock()
    hosted = LOOP.run(shield_for(BARE, clock=clock), "ann")
    clock.stopped = True
    with caplog.at_level(logging.WARNING, "stanchion.runtime"):
        told = report(hosted, "tool_call", tool="t", args={})
        done = report(hosted, "tool_result", tool="t", args={}, result="x")
    assert (told.proceeds, told.answer.kind, told.decision.happened) == (False, "refused", False)
    assert "judging it failed with `RuntimeError`" in told.answer.content
    assert (done.proceeds, done.decision.happened) == (False, True)
    assert "the clock has stopped" in caplog.text
    assert "the clock" not in told.answer.content


def test_a_lost_store_is_a_refusal(report: Any) -> None:
    store = LostStore(MemoryStore(FakeClock()), on=range(1, 99))
    shield = shield_for({"name": "b", "guards": [{"use": "budget", "calls": 5}]}, store=store)
    told = report(LOOP.run(shield, "ann"), "tool_call", tool="t", args={})
    assert told.decision.code == "kernel.store_lost"
    assert told.answer.kind == "refused"


def test_warnings_are_there_for_the_host_to_show(report: Any) -> None:
    hosted = LOOP.run(shield_for(BARE, guards=[says(Action.WARN, Stage.PROMPT)]), "ann")
    assert report(hosted, "prompt", text="x").proceeds
    assert hosted.notices() == ("says says WARN",)


def test_a_run_that_may_be_told_more_than_the_host_can_is_a_mistake() -> None:
    shield = shield_for(BARE)
    plain = Host("plain", can=["warn"], refused=as_text)
    with pytest.raises(
        ValueError,
        match=r"the run may be told to redact, and `plain` cannot: start it with `host\.run",
    ):
        plain.on(shield.run("ann"))
    assert plain.on(shield.run("ann", can=plain.can)).run.can == plain.can
    assert plain.on(shield.run("ann", can=["allow"])).host is plain
    assert LOOP.on(shield.run("ann")).run.can == EVERYTHING


def test_a_host_that_names_nothing_lets_things_pass_or_refuses_them() -> None:
    guard = says(Action.REDACT, Stage.PROMPT, patches=(Patch((), "x"),))
    told = (
        Host("bare", refused=as_text)
        .run(shield_for(BARE, guards=[guard]), "ann")
        .report("prompt", text="y")
    )
    assert told.decision.action == Action.BLOCK


def test_a_host_is_described_so_that_it_can_be() -> None:
    with pytest.raises(ValueError, match="give it the name"):
        Host("")
    with pytest.raises(ValueError, match="not an action that a host can carry out"):
        Host("x", can=("shout",))
    with pytest.raises(ValueError, match="say with `changed` how a change is put back"):
        Host("x", shown=str)

"""What stays: a rule's own view of an event, a pause until it is answered, a stop in its words, a
late answer."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from stanchion import Refused
from stanchion.dialects.penguiflow import (
    DialectError,
    GatewayConfig,
    GuardrailAction,
    GuardrailDecision,
    GuardrailEvent,
    PauseSpec,
    RetrySpec,
    RuleCost,
    SecretRedactionRule,
    StopSpec,
    ToolAllowlistRule,
)
from stanchion.stores.memory import MemoryStore
from stanchion.testing import FakeClock, LostStore, ScriptedModel
from tests.dialects.penguiflow.planner import (
    DRIVERS,
    Driver,
    Rule,
    asks,
    call,
    decides,
    gateway_of,
    judged,
)
from tests.runtime.test_pool import until

PAY = ("tool_call_start",)
USER = [{"role": "user", "content": "x"}]
SAID = StopSpec("NO_CANARIES", "I cannot talk about that.", "a canary")


@pytest.mark.parametrize("cost", RuleCost)
def test_what_a_rule_changes_in_an_event_no_other_rule_sees(cost: RuleCost) -> None:
    def changes(event: Any, _snapshot: Any) -> None:
        event.tool_args["path"] = "/tmp/ok"
        event.tool_args["deep"]["list"].clear()
        event.payload["said"]["deep"] = "changed"

    def stops(event: Any, _snapshot: Any) -> Any:
        whole = event.tool_args == {"path": "/etc/shadow", "deep": {"list": [1]}}
        return decides("STOP") if whole and event.payload["said"] == {"deep": "x"} else None

    gateway = gateway_of(Rule("a", changes, cost, PAY), Rule("b", stops, cost, PAY))
    gateway.risk_router.set_waits(30_000, 30_000)
    args = {"path": "/etc/shadow", "deep": {"list": [1]}}
    said = judged(
        gateway, GuardrailEvent("tool_call_start", "r", None, "read", args, {"said": {"deep": "x"}})
    )
    assert (said.action, said.rule_id) == ("STOP", "b")
    gateway.close()


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("scope", ["run", "step"])
def test_a_run_that_waits_goes_on_waiting_until_somebody_has_answered(
    scope: Any, driver: Driver
) -> None:
    pause = PauseSpec(scope, ("human_operator",), "May it?", 60)
    rule = Rule(
        "own",
        lambda event, _: decides("PAUSE", pause=pause) if event.tool_name == "pay" else None,
        events=PAY,
    )
    gateway = gateway_of(rule)
    asked = [judged(gateway, one, driver) for one in (call("pay"), call("pay"), call("look"))]
    assert [(one.action, one.rule_id, one.pause) for one in asked] == [("PAUSE", "own", pause)] * 3
    (ticket,) = {gateway.ticket(one, "r") for one in asked}
    assert ticket is not None
    gateway.shield.approve(ticket, by="ann")
    after = [
        judged(gateway, one, driver).action for one in (call("look"), call("pay"), call("pay"))
    ]
    assert after == ["ALLOW", "ALLOW", "PAUSE"]
    gateway.close()


@pytest.mark.parametrize("driver", DRIVERS)
def test_what_comes_after_a_stop_is_told_in_the_words_of_the_stop(driver: Driver) -> None:
    gateway = gateway_of(Rule("own", decides("STOP", stop=SAID), events=PAY))
    for event in (call(), call(), asks("hello")):
        said = judged(gateway, event, driver)
        assert (said.action, said.rule_id, said.stop) == ("STOP", "own", SAID)
    gateway.close()


LATE: dict[str, tuple[Any, GuardrailAction]] = {
    "a stop": (decides("STOP", reason="seen", effects=("emit_alert",), stop=SAID), GuardrailAction.STOP),  # noqa: E501
    "a pause": (
        decides("PAUSE", reason="seen", effects=("emit_alert",), pause=PauseSpec("tool_call", ("boss",), "Well?", 60)),  # noqa: E501
        GuardrailAction.PAUSE,
    ),
    "a retry": (
        decides("RETRY", reason="seen", effects=("emit_alert",), retry=RetrySpec(1, "Again.")),
        GuardrailAction.ALLOW,
    ),
    "an effect": (decides("ALLOW", reason="seen", effects=("emit_alert",)), GuardrailAction.ALLOW),
}  # fmt: skip


@pytest.mark.parametrize("what", LATE)
def test_what_a_late_answer_says_reaches_the_next_decision(what: str) -> None:
    answer, action = LATE[what]
    go = threading.Event()

    def late(_event: Any, _snapshot: Any) -> Any:
        go.wait()
        return answer

    gateway = gateway_of(Rule("own", late, RuleCost.DEEP, PAY))
    gateway.context_builder.set_tool_risks({"look": "low"})
    assert judged(gateway, call()).action == "ALLOW"
    go.set()
    until(lambda: bool(gateway.run("r").desk._late))
    said = judged(gateway, asks("hello"))
    assert (said.action, said.rule_id, said.reason, said.effects) == (
        action,
        "own",
        "seen",
        ("emit_alert",),
    )
    assert said.stop == answer.stop
    assert said.pause == answer.pause
    gateway.close()


def test_the_reason_of_a_rule_is_never_said_instead_of_a_message() -> None:
    stops = gateway_of(
        Rule("own", decides("STOP", reason="matched PROJECT-X", stop=StopSpec("NO", " ")))
    )
    assert (
        stops.run("r").model(ScriptedModel(), [{"role": "user", "content": "x"}])
        == StopSpec().user_message
    )
    stops.close()
    again = gateway_of(
        Rule("own", decides("RETRY", reason="matched PROJECT-X"), events=("llm_before",))
    )
    retry = judged(again, asks("x")).retry
    assert retry is not None
    assert "PROJECT" not in retry.corrective_message
    assert retry.corrective_message
    again.close()
    asked = gateway_of(Rule("own", decides("PAUSE", reason="matched PROJECT-X"), events=PAY))
    pause = judged(asked, call()).pause
    assert pause is not None
    assert "PROJECT" not in pause.prompt
    assert pause.prompt
    asked.close()


def test_a_run_that_was_ended_stays_so_and_a_closed_gateway_judges_nothing() -> None:
    gateway = gateway_of()
    assert judged(gateway, call()).action == "ALLOW"
    for run_id in ("r", "never seen"):
        gateway.end(run_id)
        said = judged(gateway, call(run_id=run_id))
        assert (said.action, said.reason) == (
            "STOP",
            "the run was cancelled: its gateway has ended it",
        )
    gateway.close()
    for use in (
        lambda: judged(gateway, call()),
        lambda: gateway.run("r"),
        lambda: gateway.end("r"),
    ):
        with pytest.raises(DialectError, match="the gateway is closed and judges nothing any more"):
            use()


def test_strikes_are_violations_of_the_run() -> None:
    rule = Rule("own", decides("ALLOW", effects=("increment_strike",)), events=PAY)
    gateway = gateway_of(rule)
    for _ in range(4):
        judged(gateway, call())
    assert [snapshot.previous_violations for _, snapshot in rule.seen] == [0, 1, 2, 3]
    gateway.close()


def test_a_registry_tells_of_penguiflows_rules_and_ones_own() -> None:
    own, tools, off = (
        Rule("own"),
        ToolAllowlistRule(denied_tools=frozenset({"rm"})),
        SecretRedactionRule(enabled=False),
    )
    registry = gateway_of(own, tools, off).registry
    assert registry.get_sync_rules("tool_call_start") == [tools, own]
    assert registry.get_sync_rules("tool_call_result") == [own]


@pytest.mark.parametrize("driver", DRIVERS)
def test_another_process_tells_a_stop_and_a_pause_in_the_words_of_its_rule(driver: Driver) -> None:
    """Two gateways on one store stand for two processes."""
    stop = decides(
        "STOP", reason="no", stop=StopSpec("X_1", "Please ask the office.", "matched PROJECT-X")
    )
    pause = decides("PAUSE", reason="money", pause=PauseSpec("run", (), "Pay 5?", 60.0))
    answers = {"stop": stop, "pause": pause}
    clock = FakeClock()
    store = MemoryStore(clock)
    first, other = [
        gateway_of(
            Rule("own", lambda event, _: answers.get(event.tool_name)), clock=clock, store=store
        )
        for _ in range(2)
    ]
    for tool, action in (("stop", "STOP"), ("pause", "PAUSE")):
        run = f"r-{tool}"
        decided = judged(first, call(tool, run), driver)
        told = [judged(other, call("look", run, n=n), driver) for n in range(2)]
        assert [one.action for one in (decided, *told)] == [action] * 3
        assert [(one.rule_id, one.stop, one.pause) for one in told] == [
            ("own", decided.stop, decided.pause)
        ] * 2
    first.close()
    other.close()


def test_without_the_store_a_stop_stands_in_the_usual_words() -> None:
    clock = FakeClock()
    store = MemoryStore(clock)
    stop = decides("STOP", reason="no", stop=StopSpec("X_1", "Please ask the office."))
    first = gateway_of(Rule("own", stop), clock=clock, store=LostStore(store, range(3, 100)))
    said = judged(first, call("look"))
    assert (said.action, said.stop) == ("STOP", StopSpec("X_1", "Please ask the office."))
    first.close()


@pytest.mark.parametrize("action", ["RETRY", "PAUSE"])
@pytest.mark.parametrize(
    "event", ["llm_before", "tool_call_start", "tool_call_result", "llm_stream_chunk"]
)
def test_the_reason_of_a_rule_is_never_said_to_a_model(action: str, event: str) -> None:
    answer = decides(
        action,
        reason="matched PROJECT-X",
        retry=RetrySpec(corrective_message="Ask for the number."),
    )
    gateway = gateway_of(Rule("own", answer, events=(event,)))
    run = gateway.run("r")
    try:
        told = (
            run.call(read, "x")
            if event.startswith("tool")
            else run.model(ScriptedModel(*["hello"] * 3), USER)
        )
    except Refused as refused:
        told = str(refused)
        assert ("Ask for the number." in told) is (action == "RETRY")
    assert "PROJECT" not in f"{told} {run.notices()}"
    gateway.close()


def test_calls_that_are_asked_about_when_another_stops_their_run_have_the_words_of_that_stop() -> (
    None
):
    """Whatever `fail_open` says: no rule was late, and nothing of the run goes ahead."""
    thinks, go = threading.Event(), threading.Event()

    def slow(event: Any, _snapshot: Any) -> Any:
        if event.tool_name == "bad":
            return decides("STOP", stop=SAID)
        thinks.set()
        go.wait(30)
        return None

    config = GatewayConfig(sync_timeout_ms=30_000, sync_fail_open=True)
    gateway = gateway_of(Rule("s", slow, events=PAY), config=config)
    gateway.run("r")
    with ThreadPoolExecutor(1) as pool:
        under_way = pool.submit(judged, gateway, call("good"))
        until(thinks.is_set)
        stopped = judged(gateway, call("bad"))
        said = [stopped, under_way.result(30), judged(gateway, call("later"))]
    go.set()
    assert [(one.action, one.rule_id, one.stop) for one in said] == [("STOP", "s", SAID)] * 3
    gateway.close()


@pytest.mark.parametrize(
    "event", ["llm_before", "tool_call_start", "tool_call_result", "llm_stream_chunk"]
)
def test_a_stop_that_a_run_carried_out_is_told_in_its_words_ever_after(event: str) -> None:
    gateway = gateway_of(Rule("s", decides("STOP", reason="why", stop=SAID), events=(event,)))
    run = gateway.run("r")
    tool = event.startswith("tool")

    def step() -> Any:
        return run.call(read, "x") if tool else run.model(ScriptedModel("hello"), USER)

    for _ in range(2):
        try:
            told = step()  # the final answer, where it is a model that is asked
        except Refused as refused:
            told = refused.decision.message
        assert told.endswith(SAID.user_message)
        assert "ended" not in told
    said = judged(gateway, call("later"))
    assert (said.action, said.rule_id, said.stop) == ("STOP", "s", SAID)
    gateway.close()


def test_the_words_of_a_stop_that_a_run_carried_out_are_those_of_every_process() -> None:
    clock = FakeClock()
    store = MemoryStore(clock)
    here, there = [
        gateway_of(Rule("s", decides("STOP", stop=SAID), events=PAY), store=store, clock=clock)
        for _ in range(2)
    ]
    with pytest.raises(Refused):
        here.run("r").call(read, "x")
    assert judged(there, call("later")).stop == SAID
    here.close()
    there.close()


def read(path: str) -> str:
    """A tool."""
    return path


@pytest.mark.parametrize("driver", [*DRIVERS, "run"])
def test_the_strikes_of_a_run_are_known_after_a_restart(driver: Any) -> None:
    clock = FakeClock()
    store = MemoryStore(clock)
    known: list[int] = []

    def strike(_event: Any, snapshot: Any) -> GuardrailDecision:
        known.append(snapshot.previous_violations)
        made: GuardrailDecision = decides("ALLOW", effects=("increment_strike",))
        return made

    for events in (2, 1):
        gateway = gateway_of(
            Rule("own", strike, events=("tool_call_start",)), clock=clock, store=store
        )
        for _ in range(events):
            if driver == "run":
                gateway.run("r").call(lambda: 1)
            else:
                judged(gateway, call("look"), driver)
        judged(gateway, call("look", "another"), "sync" if driver == "run" else driver)
        gateway.shield.close()
    assert known == [0, 1, 0, 2, 1]


def test_without_the_store_a_run_begins_without_strikes() -> None:
    clock = FakeClock()
    gateway = gateway_of(Rule("own"), clock=clock, store=LostStore(MemoryStore(clock), (1,)))
    assert judged(gateway, call("look")).action is GuardrailAction.ALLOW
    gateway.close()

"""Chain results: the verdict, the message and the duration of each guardrail, in the order of the
chain."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import pytest

from stanchion import Action, Shield
from stanchion.kernel.chain_result import VERDICT_OF, VERDICTS, chain_result
from stanchion.kernel.decision import Decision
from stanchion.kernel.findings import Finding, Trace
from stanchion.testing import shield_for


def says(name: str, priority: int, action: str, category: str = "safety") -> dict[str, Any]:
    """A guard that says that of every call of `go`."""
    entry = {"use": "rule", "id": name, "when": "event.tool == 'go'", "message": f"{name} speaks"}
    return {**entry, "priority": priority, "category": category, "action": action}


def results(*guards: dict[str, Any]) -> tuple[str, list[tuple[str, str]], tuple[str, ...]]:
    made = shield_for({"name": "p", "guards": list(guards)}).run("a").check("go", {}).chain_result()
    return made.final_verdict, [detail[:2] for detail in made.details], made.skipped


@pytest.mark.parametrize(
    ("actions", "verdict"),
    [
        (("allow", "allow"), "pass"),
        (("allow", "warn"), "warn"),
        (("warn", "escalate"), "escalate"),
        (("escalate", "block"), "block"),
        (("warn", "block"), "block"),
    ],
)
def test_the_worst_verdict_is_the_chains(actions: tuple[str, str], verdict: str) -> None:
    assert results(says("one", 10, actions[0]), says("two", 20, actions[1]))[0] == verdict


def test_guardrails_stand_in_the_order_of_the_chain_and_ties_go_by_category() -> None:
    guards = [
        says("quality", 10, "allow", "quality"),
        says("late", 20, "warn"),
        says("safety", 10, "escalate"),
    ]
    assert results(*guards)[1] == [("safety", "escalate"), ("quality", "pass"), ("late", "warn")]


def test_a_block_skips_the_rest_and_nothing_else_does() -> None:
    verdict, details, skipped = results(
        says("a", 1, "escalate"), says("b", 2, "block"), says("c", 3, "warn")
    )
    assert (verdict, details, skipped) == ("block", [("a", "escalate"), ("b", "block")], ("c",))


def test_a_guardrail_that_found_nothing_passes_without_a_message() -> None:
    rule = {"use": "rule", "id": "a", "when": "event.args.amount > 100", "message": "a speaks"}
    run = shield_for({"name": "p", "guards": [rule]}).run("a")
    said = [run.check("pay", {"amount": amount}).chain_result().details for amount in (1, 101)]
    assert [[detail[:3] for detail in details] for details in said] == [
        [("a", "pass", "")],
        [("a", "block", "a speaks")],
    ]


def test_parts_of_one_guardrail_give_one_verdict() -> None:
    guards = [
        says("whole", 1, "warn"),
        {**says("other", 2, "escalate"), "part_of": "whole"},
        says("next", 3, "allow"),
    ]
    assert results(*guards)[1] == [("whole", "escalate"), ("next", "pass")]


def test_what_has_no_place_in_the_chain_stands_before_it() -> None:
    run = shield_for({"name": "p", "guards": [says("a", 1, "warn")]}).run("a")
    run.cancel("enough")
    made = run.check("go", {}).chain_result()
    assert (made.final_verdict, made.details[0].result, made.skipped) == ("block", "block", ("a",))


def test_every_action_has_a_verdict_and_what_does_not_go_ahead_is_no_pass() -> None:
    assert set(VERDICT_OF) == set(Action)
    for action, verdict in VERDICT_OF.items():
        proceeds = Decision("d", action, "").proceeds
        assert verdict in VERDICTS
        assert (verdict in ("pass", "warn")) == proceeds
    found = Finding(Action.ESCALATE, "rule.broken", ("x",), guard="b")
    assert chain_result(Trace((("a", "a"), ("b", "b"))), (found,), ()).final_verdict == "escalate"


def test_durations_are_measured_where_the_policy_asks_for_it() -> None:
    guards = [says("a", 1, "warn"), {"use": "time_limit", "max_s": 60}, {"use": "shell"}]
    for durations in (True, False):
        shield = Shield.load({"name": "p", "guards": guards, "durations": durations})
        details = shield.run("a").check("go", {}).chain_result().details
        measured = {detail.guardrail_id: detail.duration_ms for detail in details}
        assert set(measured) == {"a", "time-limit", "shell"}
        assert all(took is None for took in measured.values()) is not durations
        assert not durations or all(took is not None and took > 0 for took in measured.values())


ASKED: Final = {"name": "p", "durations": True, "guards": [says("a", 1, "warn")]}


def test_a_guard_that_asks_takes_as_long_as_its_answer() -> None:
    class Slow:
        id = "slow"

        def judge(self, event: Any) -> None:
            return None

    made = Shield.load(ASKED, guards=[Slow()]).run("a").check("go", {}).chain_result()
    (took,) = [detail.duration_ms for detail in made.details if detail.guardrail_id == "slow"]
    assert took is not None
    assert took > 0


def test_durations_are_no_part_of_what_was_decided() -> None:
    """Two decisions are the same whatever they took; no record has their traces."""
    decision = shield_for(ASKED).run("a").check("go", {})
    other = msgspec.structs.replace(decision, trace=Trace((), (("a", 7),)))
    assert decision == other
    assert hash(decision.trace) == hash(other.trace)


def test_no_record_says_how_long_a_guard_took() -> None:
    from stanchion.audit.record import RecordEntry

    assert "trace" not in RecordEntry.__struct_fields__


def test_a_decision_that_was_sent_has_its_chain() -> None:
    """A broker decides in another process: what it says of the chain arrives with the decision."""
    decision = shield_for(ASKED).run("a").check("go", {})
    sent = msgspec.msgpack.decode(msgspec.msgpack.encode(decision), type=Decision)
    assert sent.chain_result() == decision.chain_result()
    assert [detail[:2] for detail in sent.chain_result().details] == [("a", "warn")]

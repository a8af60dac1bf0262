"""Results that report failure: judged as the error they are, settled once, and still the
agent's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from stanchion import Action, Refused, Stage
from stanchion.runtime.deciding.reported import ReportedFailure, failure_in
from stanchion.testing import FakeClock, ScriptedTool, shield_for
from tests.runtime.guards import says

DOWN = {"content": [{"type": "text", "text": "connection reset by peer"}], "isError": True}
READS = {"t": {"effect": "read"}}


def records(shield: Any) -> list[tuple[str, str]]:
    kept = [entry.read() for entry in shield.journal.kept()]
    return [
        (entry.stage, entry.action)
        for entry in kept
        if entry.stage in ("tool_call", "tool_result", "error")
    ]


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (DOWN, ReportedFailure("isError", None, "connection reset by peer")),
        ({"isError": True}, ReportedFailure("isError")),
        ({"isError": "true"}, None),
        ({"status": 503, "message": "busy"}, ReportedFailure("HTTP 503", 503, "busy")),
        ({"status": 503, "headers": {}}, ReportedFailure("HTTP 503", 503)),
        ({"status": 503}, None),
        ({"order_id": 3, "status": 599, "items": []}, None),
        ({"order_id": 3, "status_code": 599, "items": []}, ReportedFailure("HTTP 599", 599)),
        ({"status": 600, "body": ""}, None),
        ({"status": 499, "body": ""}, None),
        ({"status_code": 200, "status": 500}, ReportedFailure("HTTP 500", 500)),
        (
            {"jsonrpc": "2.0", "error": {"message": "no such method"}},
            ReportedFailure("JSON-RPC error", None, "no such method"),
        ),
        ({"jsonrpc": "2.0", "result": {"jsonrpc": "2.0", "error": {}}}, None),
        ({"jsonrpc": "2.0", "result": {"status": 200}}, None),
        (
            {"content": [{"text": "a" * 9_000}], "isError": True},
            ReportedFailure("isError", None, "a" * 4_000),
        ),
        ([DOWN], None),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_reports_a_failure(result: Any, said: ReportedFailure | None) -> None:
    assert failure_in(result) == said


def test_a_result_whose_attributes_raise_reports_nothing() -> None:
    class Broken:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(name)

    assert failure_in(Broken()) is None


def test_it_is_an_error_and_a_result_in_the_trail_and_is_settled_once() -> None:
    policy = {"name": "p", "tools": READS, "guards": [{"use": "budget", "calls": 9, "tokens": 100}]}
    shield = shield_for(policy)
    run = shield.run("a")
    decision = run.check("t", {}, tokens=90)
    answer = run.result("t", {}, DOWN, call=decision.id, tokens=10)
    assert answer.proceeds
    assert records(shield) == [("tool_call", "ALLOW"), ("error", "ALLOW"), ("tool_result", "ALLOW")]
    assert run.check("t", {}, tokens=90).proceeds, "the first has used 10 and no more"
    assert run.last_error is not None
    assert (run.last_error.error, run.last_error.fault) == ("isError", "system")


def test_a_host_reads_what_recovery_says_beside_the_decision_about_the_result() -> None:
    run = shield_for({"name": "p", "tools": READS, "guards": [{"use": "recovery"}]}).run("a")
    decision = run.check("t", {})
    answer = run.result("t", {}, DOWN, call=decision.id)
    assert answer.proceeds
    assert [(finding.action, finding.code) for finding in answer.findings] == [
        (Action.RETRY, "recovery.recoverable")
    ]


def test_what_may_not_be_repeated_is_not_and_the_agent_gets_the_result() -> None:
    run = shield_for({"name": "p", "guards": [{"use": "recovery"}]}).run("a")
    tool = ScriptedTool(DOWN, name="pay")
    assert run.call(tool) == DOWN
    assert tool.count == 1


def test_a_failure_that_ends_the_run_withholds_the_result() -> None:
    shield = shield_for({"name": "p"}, guards=[says(Action.HALT, Stage.ERROR)])
    with pytest.raises(Refused):
        shield.run("a").call(ScriptedTool(DOWN))
    run = shield.run("a")
    assert run.result("t", {}, DOWN).action == Action.HALT


def test_guards_of_results_judge_it_like_any_other() -> None:
    """A key in it is hidden from the agent, and no word of it is lost otherwise."""
    shield = shield_for({"name": "p", "guards": [{"use": "secrets"}]})
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    got = shield.run("a").call(
        ScriptedTool({"isError": True, "content": [{"type": "text", "text": f"token {key}"}]})
    )
    assert got["isError"] is True
    assert key not in str(got)
    assert all(key.encode() not in kept.text for kept in shield.journal.kept())


def test_nothing_is_undone_that_failed() -> None:
    undone: list[str] = []
    shield = shield_for({"name": "p"})

    @shield.tool(undo=lambda user: undone.append(user))
    def delete(user: str) -> Any:
        return {"status": 500, "body": ""} if user == "bob" else {"status": 200}

    with shield.run("a") as run:
        delete("ada")
        delete("bob")
        run.rollback()
    assert undone == ["ada"]


def test_what_happens_once_and_reports_failure_is_not_its_receipt() -> None:
    """Nobody knows what came of it: it is neither repeated nor answered with the failure."""
    run = shield_for({"name": "p"}).run("a", "task")
    tool = ScriptedTool(DOWN, {"paid": True}, name="pay")
    assert run.call_once("invoice 7", tool, amount=5) == DOWN
    with pytest.raises(Refused):
        run.call_once("invoice 7", tool, amount=5)
    run.settle_effect("invoice 7", happened=False)
    assert run.call_once("invoice 7", tool, amount=5) == {"paid": True}


def test_items_of_a_generator_report_failure_each() -> None:
    shield = shield_for({"name": "p", "guards": [{"use": "health"}]}, clock=FakeClock())

    def rows() -> Iterator[Any]:
        yield {"status": 200}
        yield {"status": 500, "body": ""}

    assert list(shield.run("a").call(rows)) == [{"status": 200}, {"status": 500, "body": ""}]
    assert shield.health("rows") == 50

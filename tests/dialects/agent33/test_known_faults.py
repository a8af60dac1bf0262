"""The faults of the public engine beside AGENT-33: what it let through is stopped, and what it ran
twice runs once."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from stanchion import Action, Refused, Shield
from stanchion.testing import shield_for


def test_an_empty_allowlist_allows_nothing() -> None:
    shield = shield_for(
        {
            "name": "none",
            "agents": {"a": {"allowed_tools": []}},
            "guards": [{"use": "tool_allowlist"}],
        }
    )
    assert shield.run("a").check("read", {}).code == "tool.not_allowed"
    none = shield_for({"name": "none", "guards": [{"use": "shell", "allow": []}]})
    assert not none.run("a").check("bash", {"command": "ls"}).proceeds


@pytest.mark.parametrize(
    "path", ["src/../../etc/passwd", "/etc/passwd", "src/..%2f..%2fetc/passwd"]
)
def test_a_path_that_climbs_out_is_outside(path: str) -> None:
    shield = shield_for({"name": "box", "guards": [{"use": "files", "root": ["/srv/app"]}]})
    assert shield.run("a").check("write_file", {"path": path}).code in (
        "files.outside",
        "files.protected",
    )
    assert shield.run("a").check("write_file", {"path": "src/login.py"}).proceeds


def test_what_needs_approval_does_not_proceed_without_one() -> None:
    rule = {"use": "rule", "id": "ask", "when": "event.tool == 'deploy'", "action": "escalate"}
    shield = shield_for({"name": "asks", "guards": [rule]})
    ran: list[int] = []

    def deploy() -> None:
        ran.append(1)

    for _ in range(3):
        with pytest.raises(Refused) as refused:
            shield.run("a").call(deploy)
        assert refused.value.waits
    assert ran == []


def test_a_limit_of_calls_is_a_limit() -> None:
    limit = {"use": "step_limit", "max_steps": 2, "applies_to": {"tools": ["deploy"]}}
    run = shield_for({"name": "twice", "guards": [limit]}).run("a")
    assert [run.check("deploy", {}).proceeds for _ in range(4)] == [True, True, False, False]
    assert run.check("read", {}).proceeds


def test_what_was_stopped_stays_stopped() -> None:
    run = shield_for({"name": "bare"}).run("a")
    run.cancel("enough")
    assert [run.check("read", {}).action for _ in range(3)] == [Action.HALT] * 3


class Slow:
    """A guard that takes longer than it may."""

    id = "slow"
    deadline_ms = 20

    def __init__(self) -> None:
        self.asked = 0
        self.go_on = threading.Event()

    def judge(self, event: Any) -> None:
        self.asked += 1
        self.go_on.wait(60)


def test_a_slow_guard_is_asked_once_and_refuses() -> None:
    slow = Slow()
    shield = Shield.load({"name": "bare"}, guards=[slow])
    decision = shield.run("a").check("read", {})
    slow.go_on.set()
    assert (decision.code, decision.proceeds, slow.asked) == ("kernel.lookup_expired", False, 1)


QUALITY = {
    "name": "quality",
    "limits": {"warnings": 100},
    "tools": {"read_page": {"effect": "read"}},
    "guards": [
        {"use": "output", "id": "quality-001"},
        {"use": "output", "id": "quality-002", "results": {"weather": {"type": "object"}}},
        {"use": "evidence", "id": "quality-003", "lint": None},
        {"use": "evidence", "id": "quality-004", "tests": None},
    ],
}


def test_the_quality_guardrails_do_what_their_document_says() -> None:
    run = shield_for(QUALITY).run("a")
    assert run.result("read_page", {}, "").action == Action.WARN
    assert run.result("weather", {}, "warm").action == Action.BLOCK
    run.result("write_file", {"path": "a.py"}, "written")
    assert run.check("git_push", {}).action == Action.ESCALATE
    run.result("run_tests", {}, "5 passed")
    assert (run.check("git_push", {}).action, run.check("git_push", {}).proceeds) == (
        Action.WARN,
        True,
    )
    run.result("run_linter", {}, "All checks passed!")
    assert run.check("git_push", {}).action == Action.ALLOW


def test_a_result_waits_until_it_is_judged_and_is_discarded_where_it_is_refused() -> None:
    """The document is of two minds on whether this hook waits: it does."""
    shield = shield_for(QUALITY)
    undone: list[str] = []

    @shield.tool(undo=undone.append)
    def weather(place: str) -> str:
        return f"warm in {place}"

    with shield.run("a") as run:
        with pytest.raises(Refused) as refused:
            weather("Kiel")
        assert "warm" not in str(refused.value)
        assert run.partial == ()
    assert undone == ["Kiel"]

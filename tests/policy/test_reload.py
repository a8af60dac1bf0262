"""Reloading: built as a whole, swapped at once, and every decision belongs to exactly one policy."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from stanchion import Action, PolicyError, Shield
from stanchion.policy.compiled import CompiledPolicy
from stanchion.runtime.reloading import Watcher

OPEN = {
    "name": "open",
    "agents": {"a": {"role": "reader", "allowed_tools": ["read", "write"]}},
    "tools": {"write": {"risk": "low"}},
    "guards": [{"use": "tool_allowlist"}],
}
CLOSED = {
    "name": "closed",
    "agents": {"a": {"role": "writer", "allowed_tools": ["read"]}},
    "tools": {"write": {"risk": "critical"}},
    "guards": [
        {"use": "tool_allowlist", "action": "warn"},
        {"use": "rule", "id": "no-writer", "when": "agent.role == 'writer' and event.risk == 'critical'"},
    ],
}


def test_a_run_goes_on_under_the_new_policy() -> None:
    """Its agent's tools and role, its tools' risks and its guards are those of the policy in force."""
    shield = Shield.load(OPEN)
    run = shield.run("a")
    before = run.check("write", {})
    shield.reload(CLOSED)
    after = run.check("write", {})
    shield.reload(OPEN)
    again = run.check("write", {})
    assert [d.action for d in (before, after, again)] == [Action.ALLOW, Action.BLOCK, Action.ALLOW]
    assert [f.guard for f in after.findings] == ["tool-allowlist", "no-writer"]
    assert before.policy == again.policy != after.policy


def test_a_bad_policy_changes_nothing() -> None:
    """The error names its place, the old policy stays in force."""
    shield = Shield.load(OPEN)
    before = shield.policy
    with pytest.raises(PolicyError, match=r"guards\[0\]"):
        shield.reload({"name": "bad", "guards": [{"use": "tool_allowlst"}]})
    assert shield.policy is before


def test_every_decision_matches_exactly_one_policy_while_it_flips() -> None:
    """Eight threads decide while the policy flips a thousand times: none ever sees half of each."""
    shield = Shield.load(OPEN)
    run = shield.run("a")
    known: dict[str, tuple[Action, tuple[str, ...]]] = {shield.policy.hash: (Action.ALLOW, ())}
    known[shield.reload(CLOSED).hash] = (Action.BLOCK, ("tool-allowlist", "no-writer"))
    wrong: list[Any] = []
    flipping = threading.Event()
    flipping.set()
    seen: set[str] = set()

    def decide() -> None:
        while flipping.is_set():
            decision = run.check("write", {})
            found = (decision.action, tuple(f.guard for f in decision.findings if f.code != "kernel.third_warning"))
            seen.add(decision.policy)
            if known.get(decision.policy) != found:
                wrong.append((decision.policy, found))

    threads = [threading.Thread(target=decide) for _ in range(8)]
    for thread in threads:
        thread.start()
    for turn in range(1_000):
        shield.reload(OPEN if turn % 2 else CLOSED)
    flipping.clear()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert seen == set(known)


def test_a_watched_file_is_reloaded_and_a_broken_one_is_not(tmp_path: Path) -> None:
    """Watching goes on after a mistake, and hears of its repair. Files that are extended are watched too."""
    base = tmp_path / "base.yaml"
    file = tmp_path / "policy.yaml"
    base.write_text("name: base\nguards:\n  - {use: tool_denylist, tools: [rm]}\n", "utf-8")
    file.write_text("extends: base.yaml\nname: mine\n", "utf-8")
    shield = Shield.load(file)
    heard: list[Any] = []
    watcher = Watcher(lambda: shield.policy.files, shield.reload, heard.append)
    run = shield.run()
    assert not watcher.look()
    assert run.check("rm", {}).action == Action.BLOCK

    file.write_text("extends: base.yaml\nname: mine\nguards: [{use: nonsense}]\n", "utf-8")
    assert watcher.look()
    assert isinstance(heard[-1], PolicyError)
    assert run.check("rm", {}).action == Action.BLOCK
    assert not watcher.look()

    base.write_text("name: base\nguards:\n  - {use: tool_denylist, tools: [dd, mkfs]}\n", "utf-8")
    file.write_text("extends: base.yaml\nname: mine\nversion: 2\n", "utf-8")
    assert watcher.look()
    assert isinstance(heard[-1], CompiledPolicy)
    assert run.check("rm", {}).proceeds
    assert not run.check("dd", {}).proceeds


def test_watch_starts_and_stops_a_thread(tmp_path: Path) -> None:
    """The shield's own watcher hears of a change and ends with the shield."""
    file = tmp_path / "policy.yaml"
    file.write_text("name: one\n", "utf-8")
    heard = threading.Event()
    with Shield.load(file) as shield:
        first = shield.policy.hash
        shield.watch(0.01, lambda _: heard.set())
        file.write_text("name: one\nguards:\n  - use: safe_mode\n", "utf-8")
        assert heard.wait(30)
        assert shield.policy.hash != first
    assert not [t for t in threading.enumerate() if t.name == "stanchion-policy"]


def test_code_of_the_old_policy_answers_for_decisions_begun_under_it() -> None:
    """A guard that is asked while the policy changes is the guard of the policy the decision began with."""
    asked = threading.Event()
    changed = threading.Event()

    def slow(_event: Any) -> str:
        asked.set()
        changed.wait(30)
        return "the old one refuses"

    slow.deadline_ms = 60_000  # type: ignore[attr-defined]  # a guard says so with an attribute
    shield = Shield.load(OPEN, guards=[slow])
    outcome: list[Any] = []
    thread = threading.Thread(target=lambda: outcome.append(shield.run("a").check("read", {})))
    thread.start()
    asked.wait(30)
    old = shield.policy.hash
    shield.reload(CLOSED)
    changed.set()
    thread.join()
    assert (outcome[0].policy, outcome[0].message) == (old, "the old one refuses")

"""Reloading: built as a whole, swapped at once, and every decision belongs to exactly one
policy."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from stanchion import Action, PolicyError, PolicyLoosens, Shield
from stanchion.policy.compiled import CompiledPolicy
from stanchion.policy.load import policy_hash
from stanchion.runtime.operating.reload import Watcher
from tests.new_threads import NewThreads
from tests.sampling import SOAK

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
        {
            "use": "rule",
            "id": "no-writer",
            "when": "agent.role == 'writer' and event.risk == 'critical'",
        },
    ],
}


class Trusting:
    """Trusts the hashes that it was given, and remembers which it was asked for."""

    def __init__(self, *hashes: str) -> None:
        self.hashes = set(hashes)
        self.asked: list[str] = []

    def trusts(self, policy_hash: str, _policy: CompiledPolicy, /) -> bool:
        """Whether it was given that hash."""
        self.asked.append(policy_hash)
        return policy_hash in self.hashes


def test_a_run_goes_on_under_the_new_policy() -> None:
    """Its agent's tools and role, its tools' risks and its guards are those of the policy in
    force."""
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
    """Eight threads decide while the policy flips again and again: none ever sees half of each."""
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
            found = (
                decision.action,
                tuple(f.guard for f in decision.findings if f.code != "kernel.third_warning"),
            )
            seen.add(decision.policy)
            if known.get(decision.policy) != found:
                wrong.append((decision.policy, found))

    threads = [threading.Thread(target=decide) for _ in range(8)]
    for thread in threads:
        thread.start()
    for turn in range(1_000 if SOAK else 150):
        shield.reload(OPEN if turn % 2 else CLOSED)
    flipping.clear()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert seen == set(known)


def test_a_watched_file_is_reloaded_and_a_broken_one_is_not(tmp_path: Path) -> None:
    """Watching goes on after a mistake, and hears of its repair. Files that are extended are
    watched too."""
    base = tmp_path / "base.yaml"
    file = tmp_path / "policy.yaml"
    base.write_text("name: base\nguards:\n  - {use: tool_denylist, tools: [rm]}\n", "utf-8")
    file.write_text("extends: base.yaml\nname: mine\n", "utf-8")
    trust = Trusting()
    shield = Shield.load(file, trust=trust)
    heard: list[Any] = []
    watcher = Watcher(lambda: shield.policy.files, shield.reload, heard.append, trust)
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
    trust.hashes.add(policy_hash(file))
    assert watcher.look()
    assert isinstance(heard[-1], CompiledPolicy)
    assert run.check("rm", {}).proceeds
    assert not run.check("dd", {}).proceeds


def test_watch_starts_and_stops_a_thread(tmp_path: Path) -> None:
    """The shield's own watcher hears of a change and ends with the shield."""
    file = tmp_path / "policy.yaml"
    file.write_text("name: one\n", "utf-8")
    heard, new = threading.Event(), NewThreads()
    with Shield.load(file) as shield:
        first = shield.policy.hash
        shield.watch(0.01, lambda _: heard.set())
        file.write_text("name: one\nguards:\n  - use: safe_mode\n", "utf-8")
        assert heard.wait(30)
        assert shield.policy.hash != first
    assert new.named("stanchion-policy") == []


def test_a_watcher_that_was_stopped_is_followed_by_another(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("name: one\n", "utf-8")
    heard = threading.Event()
    with Shield.load(file) as shield:
        first = shield.watch(0.01)
        first.stop()
        second = shield.watch(0.01, lambda _: heard.set())
        assert second is not first
        file.write_text("name: one\nguards:\n  - use: safe_mode\n", "utf-8")
        assert heard.wait(30)


def test_what_nobody_would_hear_of_is_not_taken(tmp_path: Path) -> None:
    """A second `tell`, one that cannot be called, and times at which nothing is looked at."""
    file = tmp_path / "policy.yaml"
    file.write_text("name: one\n", "utf-8")
    with Shield.load(file) as shield:
        with pytest.raises(TypeError, match="`tell` is `3`, which cannot be called"):
            shield.watch(tell=3)  # type: ignore[arg-type]  # what is tested
        watcher = shield.watch(3600, print)
        assert shield.watch() is watcher is shield.watch(tell=print)
        with pytest.raises(RuntimeError, match="already watched, with another `tell`"):
            shield.watch(tell=repr)  # type: ignore[arg-type]  # what is tested
    for never in (0, -1, float("nan"), "1", True):
        with (
            Shield.load(file) as shield,
            pytest.raises(ValueError, match="give a positive number of seconds"),
        ):
            shield.watch(never)  # type: ignore[arg-type]  # what is tested
    with Shield.load(file) as shield:
        with pytest.raises(ValueError, match="every_s"):
            shield.watch(0)
        new = NewThreads()
        shield.watch(3600)
        assert len(new.named("stanchion-policy")) == 1


def test_code_of_the_old_policy_answers_for_decisions_begun_under_it() -> None:
    """A guard that is asked while the policy changes is the guard of the policy the decision began
    with."""
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


STRICT = "name: mine\nguards:\n  - {use: tool_denylist, tools: [rm, dd]}\n"
LOOSE = "name: mine\nguards:\n  - {use: tool_denylist, tools: [rm]}\n"


def facts(shield: Shield) -> list[Any]:
    """What the trail has of policies."""
    return [fact for fact in shield.journal.facts() if fact.what.startswith("policy.")]


def test_a_file_that_loosens_is_refused_until_it_is_trusted(tmp_path: Path) -> None:
    """It is told and written down with both hashes, the old one stays in force; with trust it goes
    ahead."""
    file = tmp_path / "policy.yaml"
    file.write_text(STRICT, "utf-8")
    trust = Trusting()
    shield = Shield.load(file, trust=trust, journal="memory:")
    before, run = shield.policy.hash, shield.run("a")
    file.write_text(LOOSE, "utf-8")
    with pytest.raises(PolicyLoosens) as refused:
        shield.reload(by="ann")
    said = str(refused.value)
    assert "guard `tool-denylist`: tools [rm, dd] → [rm]" in said
    assert f"stanchion policy trust {file}" in said
    assert shield.policy.hash == before
    assert run.check("dd", {}).action == Action.BLOCK

    new = policy_hash(file)
    trust.hashes.add(new)
    assert shield.reload(by="bob").hash == new
    assert run.check("dd", {}).proceeds
    assert trust.asked == [new, new]
    told = [
        (fact.what, fact.by, fact.data["old_digest"], fact.data["new_digest"])
        for fact in facts(shield)
    ]
    assert told == [("policy.refused", "ann", before, new), ("policy.reloaded", "bob", before, new)]


def test_a_file_that_loosens_nothing_asks_nobody(tmp_path: Path) -> None:
    """It goes ahead as it always did, and is written down."""
    file = tmp_path / "policy.yaml"
    file.write_text(LOOSE, "utf-8")
    trust = Trusting()
    shield = Shield.load(file, trust=trust, journal="memory:")
    file.write_text(STRICT, "utf-8")
    shield.reload()
    assert trust.asked == []
    assert [fact.what for fact in facts(shield)] == ["policy.reloaded"]
    assert shield.run().check("dd", {}).action == Action.BLOCK


def test_a_mapping_is_the_programs_own_word_and_what_it_extends_is_not(tmp_path: Path) -> None:
    """A program changes its mind without trust, and it is written down as such; a file below a
    mapping is a file."""
    file = tmp_path / "base.yaml"
    file.write_text(LOOSE, "utf-8")
    shield = Shield.load(
        {"name": "mine", "guards": [{"use": "tool_denylist", "tools": ["rm", "dd"]}]},
        journal="memory:",
    )
    with pytest.raises(PolicyLoosens):
        shield.reload({"name": "mine", "extends": str(file)})
    shield.reload({"name": "mine"})
    assert [(fact.what, fact.data["origin"]) for fact in facts(shield)] == [
        ("policy.refused", str(file)),
        ("policy.reloaded", "mapping"),
    ]


def test_code_of_a_policy_that_is_refused_never_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hooks, undos and guards of a file are looked for only after it was trusted."""
    (tmp_path / "agents_own.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w').close()\ndef code(*_args, **_more): ...\n", "utf-8"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    file = tmp_path / "policy.yaml"
    file.write_text("name: mine\n", "utf-8")
    trust = Trusting()
    shield = Shield.load(file, trust=trust)
    named = "agents_own:code"
    for said in (
        f"tools: {{pay: {{undo: '{named}'}}}}",
        f"tools: {{pay: {{hook: '{named}'}}}}",
        f"guards: [{{use: python, call: '{named}'}}]",
    ):
        file.write_text(f"name: mine\n{said}\n", "utf-8")
        with pytest.raises(PolicyLoosens):
            shield.reload()
        assert policy_hash(file)
        assert not (tmp_path / "ran").exists()
    trust.hashes.add(policy_hash(file))
    shield.reload()
    assert (tmp_path / "ran").exists()


def test_watching_goes_on_and_hears_of_trust(tmp_path: Path) -> None:
    """A file that was refused comes into force when it is trusted, though nobody touches it
    again."""
    file = tmp_path / "policy.yaml"
    file.write_text(STRICT, "utf-8")
    trust = Trusting()
    shield = Shield.load(file, trust=trust, journal="memory:")
    heard: list[Any] = []
    watcher = Watcher(lambda: shield.policy.files, shield.reload, heard.append, trust)
    file.write_text(LOOSE, "utf-8")
    assert watcher.look()
    assert isinstance(heard[-1], PolicyLoosens)
    assert not watcher.look()
    assert len(facts(shield)) == 1
    trust.hashes.add(policy_hash(file))
    assert watcher.look()
    assert isinstance(heard[-1], CompiledPolicy)
    assert not watcher.look()
    assert shield.run().check("dd", {}).proceeds


@pytest.mark.parametrize(
    ("source", "given"),
    [
        ({"name": "p"}, "given as a mapping"),
        ("default", "the pack `default`"),
        ({"extends": "default"}, "a mapping"),
    ],
)
def test_a_policy_without_a_file_cannot_be_watched(
    source: str | dict[str, Any], given: str
) -> None:
    new = NewThreads()
    with (
        Shield.load(source) as shield,
        pytest.raises(ValueError, match=f"no file to watch.*{given}.*`reload\\(\\)`"),
    ):
        shield.watch()
    assert new.named("stanchion-policy") == []


def test_a_mapping_that_extends_a_file_can_be_watched(tmp_path: Path) -> None:
    file = tmp_path / "base.yaml"
    file.write_text("name: base\n", "utf-8")
    with Shield.load({"name": "p", "extends": str(file)}) as shield:
        assert shield.watch(3600) is shield.watch()

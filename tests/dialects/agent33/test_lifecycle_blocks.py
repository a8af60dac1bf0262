"""The blocks about registration, metrics and alerts, and the notes of the specification's last
section."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import pytest

from stanchion.audit.rebuilt import moment_of, run_of
from stanchion.dialects.agent33 import Alert, DialectError, Guardrails, Task, Verdict
from stanchion.kernel.state import Batch, Reply
from stanchion.ops.views.verdicts import plan_of, verdicts
from stanchion.policy.errors import PolicyError
from stanchion.runtime.deciding import hosts
from stanchion.stores.memory import MemoryStore
from stanchion.telemetry.alerts import RULES
from stanchion.telemetry.catalogue import BLOCKS, BYPASSES, GUARDRAIL_MS, INVOCATIONS
from stanchion.telemetry.kinds import Kind
from stanchion.testing.operators import operator
from tests.dialects.agent33.rails import FAILS, WHY, only, rail, rails
from tests.dialects.listed import text

CUSTOM = "event.tool != 'deploy'"


def loaded(folder: Path) -> Guardrails:
    return Guardrails.load(folder, store="memory:", journal="memory:")


def test_guardrails_are_files_in_a_folder_that_are_validated_and_reloaded(tmp_path: Path) -> None:
    said = only(607)
    assert said["method"] == "guardrails defined in YAML configuration files"
    folder = tmp_path / said["location"]
    folder.mkdir(parents=True)
    (folder / "safety.yaml").write_text(text("agent33", 140), encoding="utf-8")
    made = loaded(folder)
    assert (
        made.hooks("a").pre_execution("bash", {"command": "rm -rf /"}).final_verdict
        == Verdict.BLOCK
    )
    assert made.hooks("a").pre_execution("deploy", {}).final_verdict == Verdict.PASS
    assert said["loading"] == "guardrails loaded at system startup and on configuration reload"
    own = folder / "own.yaml"
    own.write_text("guardrail: {id: safety-050, name: own}\n", encoding="utf-8")
    assert said["validation"] == "guardrail definitions validated against schema before activation"
    with pytest.raises(PolicyError, match=r"own\.yaml"):
        made.reload()
    assert (
        made.hooks("a").pre_execution("bash", {"command": "rm -rf /"}).final_verdict
        == Verdict.BLOCK
    )
    own.write_text(str({"guardrail": rail(CUSTOM)}), encoding="utf-8")
    hooks = made.hooks("a")
    made.reload()
    assert hooks.pre_execution("deploy", {}).final_verdict == Verdict.BLOCK, (
        "without a restart, for runs under way"
    )


def test_the_metrics_are_those_of_their_block() -> None:
    said = dict(re.findall(r"- (\w+) \((.+)\)", text("agent33", 632)))
    code = {
        one.name: (one.kind, one.labels) for one in (INVOCATIONS, GUARDRAIL_MS, BLOCKS, BYPASSES)
    }
    labels = {
        name: tuple(re.findall(r"guardrail_id|result|category|outcome", how))
        for name, how in said.items()
    }
    assert labels == {name: names for name, (_, names) in code.items()}
    assert {name: how.split(",")[0] for name, how in said.items()} == {
        name: kind for name, (kind, _) in code.items()
    }
    made = rails(
        {"guardrail": rail(CUSTOM, bypass={"allowed": True, "requires_approval": "reviewer"})}
    )
    hooks = made.hooks("a")
    for tool in ("read", "deploy"):
        hooks.pre_execution(tool, {})
    hooks.request_bypass("safety-050", WHY)
    found = made.metrics()
    assert set(found) == set(said)
    said_of = {
        result: found["guardrail_invocations_total"]["safety-050", result]
        for result in ("pass", "block")
    }
    assert said_of == {"pass": (1,), "block": (1,)}
    assert sum(found["guardrail_duration_ms"][("safety-050",)][1:]) == 2
    assert found["guardrail_blocks_total"] == {("safety",): (1,)}
    assert found["bypass_requests_total"] == {("safety-050", "requested"): (1,)}


class SlowStore(MemoryStore):
    """A store that answers when a clock has gone on for 600 ms."""

    at_ns = 0

    def carry(self, batch: Batch) -> Reply:
        self.at_ns += 600_000_000
        return super().carry(batch)

    def carry_at_once(self, batch: Batch) -> Reply | None:
        return None


def test_a_budget_takes_as_long_as_the_store_that_counts_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = SlowStore()
    monkeypatch.setattr(hosts, "perf_counter_ns", lambda: store.at_ns)
    made = Guardrails.load(
        tasks={"t": Task(token_budget=1_000_000)}, store=store, journal="memory:"
    )
    told: list[Alert] = []
    made.on_alert(told.append)
    hooks = made.hooks("ann", "t")
    for _ in range(10):
        passed = hooks.pre_execution("read", {}, estimated_tokens=1)
        (took,) = [one.duration_ms for one in passed.details if one.guardrail_id == "builtin-001"]
        assert took == 600
        hooks.post_execution("read", {}, "words", after=passed, tokens=1)
    assert made.runtime_state()["builtin-001"].avg_duration_ms == 600
    assert sum(made.metrics()["guardrail_duration_ms"][("builtin-001",)][1:]) >= 10
    made.shield.telemetry.settle()
    assert {one.name for one in told} == {"guardrail_slow"}


def test_the_alerts_have_the_limits_of_their_block() -> None:
    said = {one["name"]: one["condition"] for one in only(632)["alerts"]}
    assert [str(kind).removeprefix("alert.") for kind in RULES] == list(said)
    numbers = {name: tuple(map(int, re.findall(r"\d+", how))) for name, how in said.items()}
    rate, abuse, slow = (
        RULES[Kind.HIGH_BLOCK_RATE],
        RULES[Kind.BYPASS_ABUSE],
        RULES[Kind.GUARDRAIL_SLOW],
    )
    assert numbers == {
        "high_block_rate": (rate.above * 100, rate.window_ms // 60_000),
        "bypass_abuse": (abuse.above,),
        "guardrail_slow": (slow.above,),
    }
    assert ("per agent per hour" in said["bypass_abuse"], abuse.window_ms) == (True, 3_600_000)


def test_alerts_are_told_by_the_names_of_their_block() -> None:
    made = rails(
        {"guardrail": rail(CUSTOM, bypass={"allowed": True, "requires_approval": "reviewer"})}
    )
    told: list[Alert] = []
    made.on_alert(told.append)
    hooks = made.hooks("ann")
    for _ in range(7):
        hooks.pre_execution("read", {})
    for _ in range(3):
        hooks.pre_execution("deploy", {})
    assert told == []
    hooks.pre_execution("deploy", {})
    assert [(one.name, one.agent_id) for one in told] == [("high_block_rate", "ann")]
    for at in range(6):
        hooks.pre_execution("deploy", {"at": at})
        hooks.request_bypass("safety-050", WHY)
    assert [one.name for one in told] == ["high_block_rate", "bypass_abuse"]


class Broken:
    """A guardrail of the program's own that does not work."""

    id = "broken"

    def judge(self, event: Any) -> Any:
        raise RuntimeError("no")


class Slow:
    """A guardrail of the program's own that takes longer than it may."""

    id = "slow"
    deadline_ms = 20

    def __init__(self) -> None:
        self.asked = 0
        self.go_on = threading.Event()

    def judge(self, event: Any) -> None:
        self.asked += 1
        self.go_on.wait(60)


def test_a_guardrail_that_crashes_blocks() -> None:
    told = rails(guards=[Broken()]).hooks("a").pre_execution("read", {})
    assert told.final_verdict == Verdict.BLOCK
    assert (told.details[-1].guardrail_id, told.details[-1].result) == ("broken", Verdict.BLOCK)


def test_a_guardrail_that_times_out_blocks_and_was_asked_once() -> None:
    asked = 0
    while not asked:  # a busy machine may not have begun to ask when the time is over
        slow = Slow()
        told = rails(guards=[slow]).hooks("a").pre_execution("read", {})
        slow.go_on.set()
        assert (told.final_verdict, told.decision.code) == (Verdict.BLOCK, "kernel.lookup_expired")
        asked = slow.asked
    assert asked == 1


def test_all_results_are_in_the_trace() -> None:
    """The record and the policy give back what each guardrail said."""
    made = rails(
        {"guardrails": [rail(FAILS, "warn"), {**rail(CUSTOM, priority=20), "id": "safety-051"}]}
    )
    told = made.hooks("a").pre_execution("deploy", {})
    entry = made.shield.journal.kept()[-1].read()
    seen = verdicts(entry, plan_of(entry, moment_of(entry, run_of(entry)), made.shield.policy))
    assert [(one.guardrail_id, one.result) for one in seen] == [
        (one.guardrail_id, one.result) for one in told.details
    ]
    assert [one.guardrail_id for one in seen][-2:] == ["safety-050", "safety-051"]


def test_guardrails_that_let_more_through_need_the_yes_of_an_operator(tmp_path: Path) -> None:
    """Wherever the state is kept."""
    signer, known = operator("ann")
    file = tmp_path / "rails.yaml"
    file.write_text(str({"guardrail": rail("event.tool != 'deploy'")}), encoding="utf-8")
    for store in ("memory:", str(tmp_path / "state.db")):
        loose = {"guardrail": rail("event.tool != 'deploy'", "warn")}
        file.write_text(str({"guardrail": rail("event.tool != 'deploy'")}), encoding="utf-8")
        with Guardrails.load(file, store=store, journal="memory:", operators=[known]) as made:
            file.write_text(str(loose), encoding="utf-8")
            with pytest.raises(
                DialectError,
                match=r"let more through \(.*safety-050.*\): an operator has to say yes",
            ):
                made.reload()
            assert not made.hooks("a").pre_execution("deploy", {}).proceeds
            made.reload(by=signer, why="deployments are watched now")
            assert made.hooks("a").pre_execution("deploy", {}).final_verdict == "warn"
            (fact,) = [one for one in made.shield.journal.facts() if one.what == "policy.trusted"]
            assert fact.by == "ann"

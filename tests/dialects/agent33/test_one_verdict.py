"""One folder of guardrails gives one verdict, whichever door loads it: a shield, the command, a
broker, the dialect."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from stanchion import Shield
from stanchion.dialects.agent33 import Guardrails
from stanchion.dialects.agent33.guardrails import policy_for
from stanchion.testing import FakeClock
from tests.dialects.agent33.rails import block, only
from tests.dialects.listed import text
from tests.ops.broker.brokers import serving
from tests.policy.agent33.spec import SPEC

FILES = [name for name in SPEC if name not in ("custom_guardrail", "risk_integration")]
STOPPED = [
    ("check", ("bash", {"command": "rm -rf /"}), "BLOCK"),
    ("check", ("run_sql", {"query": "DROP TABLE users"}), "BLOCK"),
    ("check", ("bash", {"command": "git push --force origin main"}), "BLOCK"),
    ("check", ("read_file", {"path": ".env"}), "BLOCK"),
    ("result", ("page", {}, "key: AKIAQ3EGRPYX7K2LMN5T"), "BLOCK"),
    ("result", ("page", {}, ""), "WARN"),
    ("result", ("page", {}, "Error: no such page"), "WARN"),
    ("handoff", ("bob",), "BLOCK"),
    ("error", ("page", MemoryError("no room")), "BLOCK"),
    ("error", ("page", KeyError("key")), "ESCALATE"),
]
"""What the document's own words stop, and how."""
WORDS = st.sampled_from(
    ["ls", "rm -rf /", "DROP TABLE users", "git push -f", "", "key", "Error: 1"]
)
ARGS = st.dictionaries(st.sampled_from(["command", "path", "query"]), WORDS, max_size=2)
TOOLS = st.sampled_from(["bash", "read_file", "write_file", "run_sql", "page"])
EVENTS = st.one_of(
    st.tuples(st.just("check"), st.tuples(TOOLS, ARGS)),
    st.tuples(st.just("result"), st.tuples(TOOLS, ARGS, WORDS)),
    st.tuples(st.just("handoff"), st.tuples(st.just("bob"))),
    st.tuples(st.just("handoff_done"), st.tuples(st.just("bob"))),
    st.tuples(
        st.just("error"),
        st.tuples(TOOLS, st.sampled_from([MemoryError("m"), KeyError("k"), TimeoutError("t")])),
    ),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The specification's own files in one folder."""
    made = tmp_path_factory.mktemp("guardrails")
    for name in FILES:
        (made / f"{name}.yaml").write_text(SPEC[name].read_text("utf-8"), encoding="utf-8")
    return made


def options() -> dict[str, Any]:
    return {
        "store": "memory:",
        "journal": "memory:",
        "clock": FakeClock(),
        "nonces": lambda: "00000000",
    }


@contextmanager
def doors(source: Path | str) -> Iterator[dict[str, Any]]:
    """A run behind each door that keeps its state in this process."""
    with ExitStack() as opened:
        plain = opened.enter_context(Shield.load(source, **options()))
        served = opened.enter_context(Shield.load(source, **options()))
        path = opened.enter_context(serving(served))
        far = opened.enter_context(Shield.load(f"broker:{path}"))
        rails = opened.enter_context(Guardrails.load(source, **options()))
        run = far.run("ann", "fix")
        yield {
            "broker": run,
            "shield": plain.run("ann", "fix", id=run.id),
            "dialect": rails.hooks("ann", "fix", id=run.id).run,
        }


def told(decision: Any) -> tuple[Any, ...]:
    found = [(one.guard, one.action, one.code, one.args) for one in decision.findings]
    return decision.action, found, decision.effects, decision.inputs.mode


def test_the_cases_of_the_document_are_stopped_behind_every_door(folder: Path) -> None:
    for hook, args, action in STOPPED:
        with doors(folder) as runs:
            said = {door: getattr(run, hook)(*args) for door, run in runs.items()}
        assert {door: one.action.name for door, one in said.items()} == dict.fromkeys(
            said, action
        ), args


@settings(max_examples=12, deadline=None)
@given(events=st.lists(EVENTS, max_size=8))
@pytest.mark.parametrize("source", ["folder", "agent-33"])
def test_drawn_events_get_one_decision(
    source: str, folder: Path, events: list[tuple[str, tuple[Any, ...]]]
) -> None:
    with doors(folder if source == "folder" else source) as runs:
        for hook, args in events:
            said = {door: told(getattr(run, hook)(*args)) for door, run in runs.items()}
            assert len({str(one) for one in said.values()}) == 1, said


def test_the_command_says_what_the_shield_says(folder: Path, tmp_path: Path) -> None:
    lines = [
        {"stage": "tool_call", "tool": args[0], "args": args[1]}
        for hook, args, _ in STOPPED
        if hook == "check"
    ]
    lines += [
        {"stage": "tool_result", "tool": "page", "args": {}, "result": args[2]}
        for hook, args, _ in STOPPED
        if hook == "result"
    ]
    lines += [{"stage": "handoff", "to": "bob", "payload": {}}]
    lines += [{"stage": "error", "tool": "page", "error": "MemoryError"}]
    lines = [{**line, "run": f"run-{at}", "agent": "ann"} for at, line in enumerate(lines)]
    said = subprocess.run(
        [sys.executable, "-m", "stanchion", "check", "--batch", "-", "--policy", str(folder)],
        input="\n".join(json.dumps(line) for line in lines),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    answers = [json.loads(line)["action"].upper() for line in said.stdout.splitlines()]
    assert answers == [*["BLOCK"] * 5, "WARN", "WARN", "BLOCK", "BLOCK"]


@pytest.mark.parametrize(
    ("used", "mode", "action"),
    [(40, "", "ALLOW"), (60, "strict", "ALLOW"), (85, "lockdown", "BLOCK")],
)
def test_a_budget_that_runs_low_is_stricter_behind_every_door(
    folder: Path, used: int, mode: str, action: str
) -> None:
    tasks = {"fix": {"budget": {"tokens": 100}}}
    policy = {"name": "guardrails", "extends": str(folder), "tasks": tasks}
    rails = policy_for(folder, tasks={"fix": {"token_budget": 100}})
    for source in (policy, rails):
        with Shield.load(source, **options()) as shield, shield.run("ann", "fix") as run:
            run.result("page", {}, "words", tokens=used)
            decision = run.check("page", {}, tokens=0)
            assert (decision.inputs.mode, decision.action.name) == (mode, action)


def test_what_the_dialect_loads_is_the_file_itself(folder: Path) -> None:
    """Without settings nothing is added to it."""
    assert policy_for(folder).keys() == {"name", "extends", "agents", "tasks"}
    assert only(140) == block(140)["safety_guardrails"]
    assert "safety-001" in text("agent33", 140)

"""`stanchion explain`: what was decided is kept privately, within bounds, and told as it was."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stanchion import Refused, Shield, Stage
from stanchion.audit.journal import MemoryJournal, Start
from stanchion.audit.layout import chains, segment_file
from stanchion.audit.reader import TrailReader
from stanchion.audit.trail import Trail
from stanchion.cli.check_history import KEPT, Checks
from stanchion.cli.main import main
from stanchion.kernel.events import RunInfo
from stanchion.ops.views.explain import DecisionCase, Explanation, explain
from stanchion.policy.load import load_policy
from stanchion.testing import FakeClock, shield_for

POLICY = """\
name: p
agents:
  writer: {role: writer, allowed_tools: [read, write_file]}
guards:
  - use: tool_allowlist
  - use: step_limit
    max_steps: 3
    warn_after: 2
  - use: rule
    id: own-files
    when: action.type == 'file_write'
    check: under(action.target_file, 'src') and not action.target_file.contains('test')
    advice: stay in src
"""


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """A policy file."""
    file = tmp_path / "policy.yaml"
    file.write_text(POLICY, encoding="utf-8")
    return file


def checks() -> Path:
    """Where this test's commands keep what they decide."""
    return Path(os.environ["STANCHION_STATE_DIR"]) / "checks"


def kept() -> bytes:
    """All that this test's commands have kept."""
    return b"".join(file.read_bytes() for file in checks().rglob("*.jsonl"))


def told(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """What a command answers as JSON."""
    capsys.readouterr()
    main([*words, "--json"])
    came = capsys.readouterr()
    assert came.out, came.err
    return json.loads(came.out)


def test_a_decision_of_one_process_is_explained_by_another(policy: Path) -> None:
    command = [sys.executable, "-m", "stanchion"]
    check = [
        *command,
        "check",
        "--policy",
        policy.name,
        "--agent",
        "writer",
        "--tool",
        "fly",
        "--json",
    ]
    done = subprocess.run(check, cwd=policy.parent, capture_output=True, text=True, check=False)
    decision = json.loads(done.stdout)["id"]
    done = subprocess.run(
        [*command, "explain", decision], cwd="/", capture_output=True, text=True, check=True
    )
    assert f"{policy}:5:5" in done.stdout
    assert "one of these tools: `read`, `write_file`" in done.stdout
    assert "\n           skipped   step-limit, own-files\n" in done.stdout


def test_at_once_and_later_say_the_same(policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = [
        "--policy",
        str(policy),
        "--agent",
        "writer",
        "--tool",
        "write_file",
        "--args",
        '{"path": "src/test.py"}',
    ]
    at_once = told(capsys, "check", *args, "--explain")
    assert told(capsys, "explain", at_once["id"]) == at_once
    assert told(capsys, "explain", "last") == at_once
    (finding,) = at_once["findings"]
    assert finding["advice"] == "stay in src"
    assert [(part["text"], part["holds"]) for part in finding["check"]["parts"]] == [
        ("under(action.target_file, 'src')", True),
        ("not action.target_file.contains('test')", False),
    ]
    assert finding["to_pass"][0] == "`not action.target_file.contains('test')` would have to hold"


def test_counters_are_as_they_stood(policy: Path) -> None:
    journal = Checks(lambda: policy.parent / "kept", print)
    shield = Shield.load(policy, journal=journal)
    run = shield.run("writer")
    told = []
    for _ in range(4):
        run.check("read", {})
        told.append(explain(journal.last(), shield.policy))
    assert [
        counter.before for each in told for counter in each.counters if counter.counts == "steps"
    ] == [0, 1, 2, 3]
    assert told[2].counters[0].limits == ((2, "WARN"), (3, "BLOCK"))
    assert told[2].findings[0].to_pass == ("no more than 2 steps per run (`warn_after`)",)
    assert told[3].findings[0].to_pass[0] == "no more than 3 steps per run (`max_steps`)"


EVENTS: dict[Stage, dict[str, Any]] = {
    Stage.PROMPT: {"text": "hello"},
    Stage.MODEL_CALL: {"messages": [{"role": "user", "content": "hello"}], "model": "m"},
    Stage.MODEL_CHUNK: {"text": "he"},
    Stage.MODEL_REPLY: {"text": "hello", "final": True},
    Stage.TOOL_CALL: {"tool": "t", "args": {"a": [1]}},
    Stage.TOOL_RESULT: {"tool": "t", "args": {}, "result": ["hello"]},
    Stage.EGRESS: {
        "url": "https://example.org",
        "method": "PUT",
        "headers": {"a": "b"},
        "payload": "x",
    },
    Stage.ERROR: {"error": "KeyError", "text": "hello", "status": 500},
    Stage.CHARGE: {"tokens": 5},
    Stage.HANDOFF: {"to": "b", "payload": {"x": 1}},
    Stage.HANDOFF_DONE: {"to": "b"},
}


def explained(policy: dict[str, Any], stage: Stage, fields: dict[str, Any]) -> Explanation:
    """The explanation of one event."""
    journal = MemoryJournal()
    shield = Shield.load(policy, journal=journal)
    run = shield.run("a", "t", role="r")
    run.judge(stage, **fields)
    return explain(DecisionCase(journal.kept()[-1].read(), run.desk.info), shield.policy)


@pytest.mark.parametrize("stage", Stage)
def test_every_stage_is_explained_by_the_event_itself(stage: Stage) -> None:
    fields = EVENTS[stage]
    read = sorted(
        {"text", "url", "error", "to", "tokens", "result", "model", "tool"} & fields.keys()
    )
    parts = [
        f"event.stage == '{stage}'",
        "agent.role == 'r'",
        *(f"event.{name} != null" for name in read),
    ]
    rule = {
        "use": "rule",
        "id": "r",
        "when": " and ".join(parts),
        "action": "warn",
        "stages": [stage.value],
    }
    told = explained({"name": "p", "guards": [rule]}, stage, fields)
    (finding,) = told.findings
    assert finding.when is not None
    assert [part.holds for part in finding.when.leaves("and")] == [True] * len(parts)
    values = {
        name: value for part in finding.when.leaves("and") for name, value in part.values.items()
    }
    assert {f"event.{name}" for name in read} <= values.keys()
    assert all(values[f"event.{name}"] == fields[name] for name in read)


def test_safe_mode_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANCHION_SAFE_MODE", "1")
    (finding,) = explained({"name": "p"}, Stage.TOOL_CALL, {"tool": "t", "args": {}}).findings
    assert (finding.use, finding.to_pass) == ("safe_mode", ("safe mode switched off",))


def test_a_policy_that_has_changed_is_said_to_have(
    policy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(
        [
            "check",
            "--policy",
            str(policy),
            "--agent",
            "writer",
            "--tool",
            "write_file",
            "--args",
            '{"path": "x"}',
        ]
    )
    policy.write_text(POLICY.replace("under(", "not under("), encoding="utf-8")
    assert main(["explain", "last"]) == 0
    assert "it has changed since" in capsys.readouterr().out
    told_now = told(capsys, "explain", "last")
    assert told_now["changed"] is True
    assert told_now["findings"][0]["check"] is None
    assert told_now["findings"][0]["place"] == f"{policy}:9:5"
    policy.unlink()
    told_now = told(capsys, "explain", "last")
    assert (told_now["changed"], told_now["findings"][0]["place"]) == (True, "")
    assert main(["explain", "last"]) == 0
    assert "(can no longer be loaded)" in capsys.readouterr().out


def test_what_was_redacted_is_not_kept(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(
        "name: p\nguards:\n  - {use: python, call: 'tests.golden.cli.guards:redact'}\n",
        encoding="utf-8",
    )
    main(
        ["check", "--policy", str(file), "--tool", "t", "--args", '{"a": "sk-abc123"}', "--explain"]
    )
    main(["check", "--policy", str(file), "--tool", "t", "--args", '{"a": "sk-abc123"}'])
    assert b"[key]" in kept()
    assert b"sk-abc123" not in kept()


def test_what_is_kept_is_private() -> None:
    main(["check", "--tool", "t"])
    paths = [checks(), *checks().rglob("*")]
    assert len(paths) >= 4
    assert {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in paths if path.name != "head"} == {
        0
    }


@pytest.mark.parametrize("obstacle", ["file", "folder", "link", "relative"])
def test_what_cannot_be_kept_changes_no_answer(
    obstacle: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    state = tmp_path / "state"
    match obstacle:
        case "file":
            state.write_text("in the way", encoding="utf-8")
        case "folder":
            state.mkdir()
            (state / "checks").write_text("in the way", encoding="utf-8")
        case "link":
            state.mkdir()
            (state / "checks").symlink_to(tmp_path / "nowhere")
        case "relative":
            monkeypatch.chdir(tmp_path)
            monkeypatch.setenv("STANCHION_STATE_DIR", "state")
    assert main(["check", "--tool", "t", "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["action"] == "ALLOW"
    (line,) = shown.err.splitlines()
    assert line.startswith("stanchion: decisions are not kept for `stanchion explain`: ")
    assert not (tmp_path / "nowhere").exists()
    assert main(["check", "--tool", "t", "--explain"]) == 0


def test_trouble_is_told_once_for_a_whole_batch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "state").write_text("in the way", encoding="utf-8")
    (tmp_path / "e.jsonl").write_text(
        '{"run": "r", "stage": "prompt", "text": "x"}\n' * 3, encoding="utf-8"
    )
    assert main(["check", "--batch", str(tmp_path / "e.jsonl")]) == 0
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 3
    assert len(shown.err.splitlines()) == 1


def test_a_policy_that_does_not_load_leaves_nothing_behind(tmp_path: Path) -> None:
    assert main(["check", "--tool", "t", "--policy", str(tmp_path / "none.yaml")]) == 2
    assert not checks().exists()


def test_a_check_counts_nothing_for_later(
    policy: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STANCHION_STORE", str(tmp_path / "state.db"))
    call = ["check", "--policy", str(policy), "--agent", "writer", "--tool", "read"]
    assert [main(call) for _ in range(5)] == [0] * 5
    assert not (tmp_path / "state.db").exists()


def test_size_is_bounded_and_the_newest_stay(capsys: pytest.CaptureFixture[str]) -> None:
    long, decision = json.dumps({"text": "x" * 250_000}), ""
    for _ in range(26):
        decision = told(capsys, "check", "--stage", "prompt", "--event", long)["id"]
        assert len(kept()) < 5 * KEPT.segment_bytes
    (name,) = chains(checks())
    assert not segment_file(checks() / name, 1).exists()
    newest = next(found for found in TrailReader(checks()).backwards() if found.is_decision)
    assert newest.stub.id == decision


@pytest.fixture
def trail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that shields write their trail to, and commands read it from."""
    monkeypatch.setenv("STANCHION_AUDIT", str(tmp_path / "trail"))
    return tmp_path / "trail"


def test_a_decision_of_a_shield_is_explained(
    trail: Path, policy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Shield.load(policy) as shield, shield.run("writer", "t") as run:
        refused = run.check("write_file", {"path": "elsewhere.py"})
    told_now = told(capsys, "explain", refused.id)
    assert (told_now["changed"], told_now["source"], told_now["role"]) == (
        False,
        str(policy),
        "writer",
    )
    assert told_now["findings"][0]["check"]["parts"][0]["holds"] is False
    assert told_now["passed"] == ["tool-allowlist", "step-limit"]
    assert told(capsys, "explain", "last") == told_now
    assert told(capsys, "explain", "last", "--trail", str(trail)) == told_now
    (place,) = [
        f"{one.chain}:{one.stub.seq}" for one in TrailReader(trail).backwards() if one.is_decision
    ]
    assert told(capsys, "explain", place) == told_now


def test_what_came_of_a_call_is_tested_with_its_arguments(
    trail: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "p.yaml"
    rule = "{use: rule, stages: [tool_result], check: \"event.args.path == 'b'\"}"
    file.write_text(f"name: p\nguards:\n  - {rule}\n", encoding="utf-8")
    with Shield.load(file) as shield, shield.run("a") as run:
        call = run.check("read", {"path": "a"})
        run.result("read", {"path": "a"}, "text", call=call.id)
    assert b'"args":{"path"' not in b"".join(path.read_bytes() for path in trail.rglob("*.jsonl"))
    (finding,) = told(capsys, "explain", "last")["findings"]
    assert finding["check"]["values"] == {"event.args.path": "a"}


def test_a_rule_that_reads_what_the_call_lacks_is_held_against_the_call(
    trail: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "p.yaml"
    file.write_text("name: p\nguards:\n  - {use: rule, when: event.args.amount > 50}\n")
    with Shield.load(file) as shield, shield.run("a") as run:
        assert not run.check("refund", {"order_id": "1", "total": 9999}).proceeds
    (finding,) = told(capsys, "explain", "last")["findings"]
    assert "`refund` does not have; it takes `order_id`, `total`" in finding["to_pass"][-1]


def test_a_policy_that_was_handed_in_is_said_to_be(
    trail: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Shield.load(
        {"name": "p", "guards": [{"use": "tool_denylist", "tools": ["rm"], "log_pass": True}]}
    ) as shield:
        shield.run("a").check("ls", {})
    assert main(["explain", "last"]) == 0
    out = capsys.readouterr().out
    assert "(handed in as data, so it is not kept), hash " in out
    assert "\n  passed   tool-denylist\n" in out


def test_safe_mode_at_the_start_is_explained_later(
    trail: Path, policy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STANCHION_SAFE_MODE", "1")
    with Shield.load(policy) as shield:
        shield.run("writer").check("read", {})
    told_now = told(capsys, "explain", "last")
    assert (told_now["changed"], told_now["findings"][0]["use"]) == (False, "safe_mode")


def test_the_newest_of_both_trails_are_listed(
    trail: Path, policy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = FakeClock(5)
    journal = Trail(trail, clock=clock)
    with shield_for(policy, clock=clock, journal=journal, source=str(policy)) as shield:
        old = shield.run("writer", id="old").check("read", {})
        main(["check", "--tool", "now"])
        clock.advance(4_102_444_800_000)
        late = shield.run("writer", id="late").check("fly", {})
    capsys.readouterr()
    assert main(["explain", "--json"]) == 0
    listed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["tool"] for one in listed] == ["fly", "now", "read"]
    assert [one["policy"] for one in listed] == [str(policy), "default", str(policy)]
    assert [one["id"] for one in listed if one["tool"] != "now"] == [late.id, old.id]


def test_what_is_no_decision_is_not_explained(
    trail: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Shield.load("default") as shield:
        shield.run("a").check("t", {})
    (name,) = chains(trail)
    assert main(["explain", f"{name[:6]}:0"]) == 2
    assert capsys.readouterr().err == (
        f"stanchion: `{name[:6]}:0` is not a decision: see `stanchion audit show {name[:6]}:0`\n"
    )


def test_a_record_without_its_beginning_is_explained_as_far_as_it_goes() -> None:
    journal = MemoryJournal()
    shield = Shield.load("default", journal=journal)
    shield.run("a").check("t", {})
    told_now = explain(DecisionCase(journal.kept()[-1].read(), RunInfo("r", "a")), None)
    assert (told_now.policy, told_now.source, told_now.changed, told_now.passed) == (
        "",
        None,
        True,
        (),
    )


def test_a_check_journal_gives_its_newest_case(tmp_path: Path) -> None:
    journal = Checks(lambda: tmp_path / "kept", print)
    with pytest.raises(LookupError):
        journal.last()
    journal.begin(Start(RunInfo("r"), 0, "hash", "somewhere"))
    with Shield.load("default", journal=journal) as shield:
        decision = shield.run("a", id="r2").check("t", {})
        assert journal.last().entry.id == decision.id
        assert (journal.last().run.id, journal.last().source) == ("r2", "default")


def test_definitions_that_a_program_adds_are_no_change_of_its_policy(
    policy: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(policy.parent)
    policy.write_text(POLICY + "  - use: schema\n", encoding="utf-8")
    trail = policy.parent / "trail"
    with Shield.load("policy.yaml", journal=str(trail)) as shield:

        @shield.tool
        def write_file(path: str) -> str:
            return path

        with shield.run("writer"), pytest.raises(Refused) as refused:
            write_file("docs/a.md")
    assert refused.value.decision.policy != load_policy("policy.yaml").hash
    explained = told(capsys, "explain", "last", "--trail", str(trail))
    assert not explained["changed"]
    assert explained["findings"][0]["check"] is not None

    policy.write_text(POLICY + "  - use: schema\n  - use: loops\n", encoding="utf-8")
    assert told(capsys, "explain", "last", "--trail", str(trail))["changed"]

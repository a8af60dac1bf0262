"""`holdfast explain`: what was decided is kept privately, within bounds, and told as it was."""

import json
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from holdfast import Shield, Stage
from holdfast.audit.recent import FILE, LIMIT, OLDER, Recent, RecentJournal, Remembered
from holdfast.cli.main import main
from holdfast.lab.explain import Explanation, explain

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


def kept() -> Recent:
    """What this test's commands have kept."""
    return Recent.of_user(os.environ)


def told(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """What a command answers as JSON."""
    capsys.readouterr()
    main([*words, "--json"])
    return json.loads(capsys.readouterr().out)


def test_a_decision_of_one_process_is_explained_by_another(policy: Path) -> None:
    command = [sys.executable, "-m", "holdfast"]
    check = [*command, "check", "--policy", policy.name, "--agent", "writer", "--tool", "fly", "--json"]
    done = subprocess.run(check, cwd=policy.parent, capture_output=True, text=True, check=False)
    decision = json.loads(done.stdout)["id"]
    done = subprocess.run([*command, "explain", decision], cwd="/", capture_output=True, text=True, check=True)
    assert f"{policy}:5:5" in done.stdout
    assert "one of these tools: `read`, `write_file`" in done.stdout
    assert "step-limit, own-files (not asked any more)" in done.stdout


def test_at_once_and_later_say_the_same(policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = ["--policy", str(policy), "--agent", "writer", "--tool", "write_file", "--args", '{"path": "src/test.py"}']
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
    shield = Shield.load(policy)
    shield.journal = RecentJournal(shield.journal, None, print, str(policy), None)
    run = shield.run("writer")
    told = []
    for _ in range(4):
        run.check("read", {})
        told.append(explain(shield.journal.last, shield.policy))
    assert [counter.before for each in told for counter in each.counters if counter.counts == "steps"] == [0, 1, 2, 3]
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
    Stage.EGRESS: {"url": "https://example.org", "method": "PUT", "headers": {"a": "b"}, "payload": "x"},
    Stage.ERROR: {"error": "KeyError", "text": "hello", "status": 500},
    Stage.CHARGE: {"tokens": 5},
    Stage.HANDOFF: {"to": "b", "payload": {"x": 1}},
    Stage.HANDOFF_DONE: {"to": "b"},
}


def explained(policy: dict[str, Any], stage: Stage, fields: dict[str, Any]) -> Explanation:
    """The explanation of one event."""
    shield = Shield.load(policy)
    shield.journal = RecentJournal(shield.journal, None, print, "", None)
    shield.run("a", "t", role="r").judge(stage, **fields)
    return explain(shield.journal.last, shield.policy)


@pytest.mark.parametrize("stage", Stage)
def test_every_stage_is_explained_by_the_event_itself(stage: Stage) -> None:
    fields = EVENTS[stage]
    read = sorted({"text", "url", "error", "to", "tokens", "result", "model", "tool"} & fields.keys())
    parts = [f"event.stage == '{stage}'", "agent.role == 'r'", *(f"event.{name} != null" for name in read)]
    rule = {"use": "rule", "id": "r", "when": " and ".join(parts), "action": "warn", "stages": [stage.value]}
    told = explained({"name": "p", "guards": [rule]}, stage, fields)
    (finding,) = told.findings
    assert finding.when is not None
    assert [part.holds for part in finding.when.leaves("and")] == [True] * len(parts)
    values = {name: value for part in finding.when.leaves("and") for name, value in part.values.items()}
    assert {f"event.{name}" for name in read} <= values.keys()
    assert all(values[f"event.{name}"] == fields[name] for name in read)


def test_safe_mode_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_SAFE_MODE", "1")
    (finding,) = explained({"name": "p"}, Stage.TOOL_CALL, {"tool": "t", "args": {}}).findings
    assert (finding.use, finding.to_pass) == ("safe_mode", ("safe mode switched off",))


def test_a_policy_that_has_changed_is_said_to_have(policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "--policy", str(policy), "--agent", "writer", "--tool", "write_file", "--args", '{"path": "x"}'])
    policy.write_text(POLICY.replace("under(", "not under("), encoding="utf-8")
    told_now = told(capsys, "explain", "last")
    assert told_now["changed"] is True
    assert told_now["findings"][0]["check"] is None
    assert told_now["findings"][0]["place"] == f"{policy}:9:5"
    policy.unlink()
    told_now = told(capsys, "explain", "last")
    assert (told_now["changed"], told_now["findings"][0]["place"]) == (True, "")
    assert main(["explain", "last"]) == 0
    assert "it has changed since" in capsys.readouterr().out


def test_what_was_redacted_is_not_kept(tmp_path: Path) -> None:
    file = tmp_path / "p.yaml"
    file.write_text("name: p\nguards:\n  - {use: python, call: 'tests.golden.cli.guards:redact'}\n", encoding="utf-8")
    main(["check", "--policy", str(file), "--tool", "t", "--args", '{"a": "sk-abc123"}', "--explain"])
    main(["check", "--policy", str(file), "--tool", "t", "--args", '{"a": "sk-abc123"}'])
    text = kept().file.read_text(encoding="utf-8")
    assert "[key]" in text
    assert "sk-abc123" not in text


def test_the_file_is_private() -> None:
    main(["check", "--tool", "t"])
    file = kept().file
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    file.chmod(0o644)
    main(["check", "--tool", "t"])
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("obstacle", ["file", "folder", "link", "pipe", "relative"])
def test_what_cannot_be_kept_changes_no_answer(
    obstacle: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "state"
    match obstacle:
        case "file":
            state.write_text("in the way", encoding="utf-8")
        case "folder":
            (state / FILE).mkdir(parents=True)
        case "link":
            state.mkdir()
            (state / FILE).symlink_to(tmp_path / "elsewhere")
        case "pipe":
            state.mkdir()
            os.mkfifo(state / FILE)
        case "relative":
            monkeypatch.chdir(tmp_path)
            monkeypatch.setenv("HOLDFAST_STATE_DIR", "state")
    assert main(["check", "--tool", "t", "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["action"] == "ALLOW"
    (line,) = shown.err.splitlines()
    assert line.startswith("holdfast: decisions are not kept for `holdfast explain`: ")
    assert not (tmp_path / "elsewhere").exists()
    assert main(["check", "--tool", "t", "--explain"]) == 0


def test_trouble_is_told_once_for_a_whole_batch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "state").write_text("in the way", encoding="utf-8")
    (tmp_path / "e.jsonl").write_text('{"run": "r", "stage": "prompt", "text": "x"}\n' * 3, encoding="utf-8")
    assert main(["check", "--batch", str(tmp_path / "e.jsonl")]) == 0
    shown = capsys.readouterr()
    assert len(shown.out.splitlines()) == 3
    assert len(shown.err.splitlines()) == 1


def one() -> Remembered:
    """A decision to keep."""
    shield = Shield.load("default")
    shield.journal = RecentJournal(shield.journal, None, print, "default", None)
    shield.run("a").check("t", {"text": "x" * 50_000})
    last: Remembered = shield.journal.last
    return last


def test_size_is_bounded_and_the_newest_stay(tmp_path: Path) -> None:
    from msgspec.structs import replace

    recent, sample = Recent(tmp_path / "kept"), one()
    for number in range(100):
        recent.append(replace(sample, entry=replace(sample.entry, id=f"d{number}")))
        assert sum(file.stat().st_size for file in (tmp_path / "kept").iterdir()) <= 2 * LIMIT
    ids = [each.entry.id for each in recent.newest()]
    assert ids == [f"d{number}" for number in range(99, 99 - len(ids), -1)]
    assert len(ids) > 20
    assert recent.find("d99") is not None
    assert recent.find("d0") is None
    assert {file.name for file in (tmp_path / "kept").iterdir()} == {FILE, OLDER, "recent.lock"}


def test_lines_that_cannot_be_read_spoil_no_other(tmp_path: Path) -> None:
    recent = Recent(tmp_path / "kept")
    recent.append(one())
    with recent.file.open("ab") as file:
        file.write(b'\n{"entry": {"v": 1, "cut')
    recent.append(one())
    with recent.file.open("ab") as file:
        file.write(b"\n\xff\xfe\nnull\n[]\n")
    assert len(list(recent.newest())) == 2


def test_threads_lose_nothing_of_each_other(tmp_path: Path) -> None:
    sample = one()
    small = Remembered(sample.entry, sample.run, "x" * 100)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: Recent(tmp_path / "kept").append(small), range(16)))
    assert len(list(Recent(tmp_path / "kept").newest())) == 16

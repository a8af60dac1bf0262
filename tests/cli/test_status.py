"""`stanchion status` says on one screen how everything stands; its exit status says whether
anything is not as it should be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield
from stanchion.cli.main import main
from stanchion.cli.status import ABOUT, StatusLine, screen
from stanchion.cli.terminal import Terminal
from tests.cli.signing import Signing

POLICY = """\
name: ours
guards:
  - {use: budget, calls: 10, per: task}
  - {use: tool_denylist, id: trial, tools: [rm], mode: shadow}
tools:
  pay: {ask: true}
"""


@pytest.fixture
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a policy, a store and a trail of its own, and nothing else of this machine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STANCHION_STORE", str(tmp_path / "state.db"))
    monkeypatch.setenv("STANCHION_AUDIT", str(tmp_path / "trail"))
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "policy.yaml").write_text(POLICY)
    return tmp_path


def status(capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, list[tuple[str, str]]]]:
    """The exit status, and the marks and words of each thing."""
    capsys.readouterr()
    code = main(["status", "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    lines: dict[str, list[tuple[str, str]]] = {}
    for one in found["lines"]:
        lines.setdefault(one["about"], []).append((one["mark"], one["says"]))
    assert found["bad"] == sum(mark == "bad" for some in lines.values() for mark, _ in some)
    return code, lines


def worked(times: int, tool: str = "ls") -> None:
    with Shield.load("policy.yaml") as shield, shield.run("ann", "work") as run:
        for _ in range(times):
            run.check(tool, {})


def test_where_nothing_was_done_there_is_nothing_to_say(
    at_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, lines = status(capsys)
    assert (code, [*lines]) == (0, [*ABOUT])
    assert {about for about, some in lines.items() if some[0][0] == "none"} == {
        "store", "trail", "policy", "questions", "budgets", "adapters", "agents", "escaped",
    }  # fmt: skip
    assert not (at_home / "state.db").exists()  # whoever looks makes nothing


def test_what_needs_somebody_is_marked(at_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    worked(8)
    worked(1, "pay")
    code, lines = status(capsys)
    assert code == 0
    assert lines["trail"][0][1].startswith("whole: ")
    assert [mark for mark, _ in lines["trail"]] == ["good", "look", "look"]  # seal, witness
    assert lines["policy"][0] == ("good", lines["policy"][0][1])
    assert lines["policy"][1] == ("look", "in shadow mode, so they stop nothing: trial")
    assert lines["questions"][0][1].startswith("1 question open since ")
    assert "no operator" in lines["questions"][1][1]
    assert lines["budgets"] == [("look", "task work: 80% of 10 calls used")]
    assert "nobody hears" in lines["notices"][0][1]

    worked(2)
    (at_home / "policy.yaml").write_text(POLICY.replace("trial", "other"))
    Signing(at_home).enrolled(at_home / "state.db")
    code, lines = status(capsys)
    assert code == 1
    assert lines["budgets"] == [("bad", "task work: 100% of 10 calls used")]
    assert ("look", "the file has changed since the newest decision") in lines["policy"]
    assert len(lines["questions"]) == 1


def test_a_file_of_notices_that_cannot_be_used_is_bad(
    at_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STANCHION_NOTIFY", str(at_home / "notify.yaml"))
    for text in ("to: [", "destinations: {push: {to: 7}}"):
        (at_home / "notify.yaml").write_text(text, "utf-8")
        code, lines = status(capsys)
        assert code == 1
        assert [mark for mark, _ in lines["notices"]] == ["bad"]


def test_what_is_halted_or_broken_is_bad(at_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    worked(1)
    with Shield.load("policy.yaml") as shield:
        shield.halt("by hand", by="ann")
    code, lines = status(capsys)
    assert code == 1
    assert [mark for mark, says in lines["store"] if "by hand" in says] == ["bad"]

    (at_home / "policy.yaml").write_text("name: p\nguards: [{use: nothing}]\n")
    said = status(capsys)[1]["policy"]
    assert [(mark, words.endswith("policy.yaml does not load")) for mark, words in said] == [
        ("bad", True)
    ]

    segment = next((at_home / "trail").rglob("*.jsonl"))
    segment.write_bytes(segment.read_bytes().replace(b'"ann"', b'"bob"', 1))
    code, lines = status(capsys)
    assert code == 1
    assert lines["trail"][0][0] == "bad"
    assert lines["trail"][0][1].startswith("not whole")

    (at_home / "state.db").write_bytes(b"no store at all" * 100)
    code, lines = status(capsys)
    assert code == 1
    assert lines["store"][0][0] == "bad"
    assert [*lines] == [*ABOUT]  # the rest is shown all the same


def test_an_agent_without_hooks_is_unguarded(
    at_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = at_home / "claude"
    program.write_text("#!/bin/sh\necho 2.1.328\n")
    program.chmod(0o755)
    _, lines = status(capsys)
    assert lines["agents"] == [("look", "claude is unguarded")]


@pytest.mark.parametrize("width", [30, 59, 60, 120])
def test_lines_fit_the_terminal(width: int) -> None:
    said = "a sentence of some words that goes on for a while and then on and on " * 3
    found = [StatusLine("questions", "look", said, "do this"), StatusLine("questions", "bad", "no")]
    lines = [*screen(found, 1, 1, Terminal(False, width))]
    assert all(len(line) <= width or line.startswith("1 thing") for line in lines)
    assert " ".join(" ".join(lines).split()).count("on and on") == 3


def test_people_read_what_programs_do(at_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    worked(1)
    assert main(["status"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("  good     store      ")
    assert any(line.startswith("  look     trail      unsealed") for line in said)
    assert said[-1] == "0 things not as it should be, 5 things to look at"

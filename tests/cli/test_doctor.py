"""`stanchion doctor` tries everything that is configured, each as a row of the screen of status."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

import pytest

from stanchion import Shield
from stanchion.cli.doctor import EVERYTHING, driven_apart
from stanchion.cli.main import main
from stanchion.cli.status import ABOUT, Looking, looked
from stanchion.testing.operators import operator
from tests.cli.test_answers import ended
from tests.ops.broker.brokers import running, stanchion_as
from tests.ports import Port
from tests.telemetry.receiver import SECRET, receiving, status

Row = Callable[[str], list[tuple[str, str]]]
_, KNOWN = operator("ann")
POLICY = f"""\
name: ours
tools: {{pay: {{ask: true}}}}
operators: {{ann: {{key: {KNOWN.key}}}}}
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a policy, a store and a trail of its own, and nothing else of this machine."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("STANCHION_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("STANCHION_STORE", str(tmp_path / "state.db"))
    monkeypatch.setenv("STANCHION_AUDIT", str(tmp_path / "trail"))
    monkeypatch.setenv("STANCHION_NOTIFY", str(tmp_path / "notify.yaml"))
    monkeypatch.setenv("PAGER_SECRET", SECRET)
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "policy.yaml").write_text(POLICY)
    (tmp_path / "notify.yaml").write_text("destinations: {}\n")
    return tmp_path


@pytest.fixture
def row(home: Path) -> Row:
    """The marks and words of one thing."""

    def found(about: str) -> list[tuple[str, str]]:
        args = Namespace(
            store=None, project=None, trail=None, json=False, load=Shield.load, policy=None
        )
        lines = looked(about, EVERYTHING[about], Looking(args))
        return [(one.mark, f"{one.says} {one.to_do}") for one in lines]

    return found


def worked() -> None:
    with Shield.load("policy.yaml") as shield, shield.run("bot", "work") as run:
        assert run.check("ls", {}).proceeds


def test_everything_that_status_shows_of_what_is_configured_is_here() -> None:
    assert {*ABOUT} - {*EVERYTHING} == {"questions", "budgets", "escaped"}
    assert {*EVERYTHING} - {*ABOUT} == {"broker", "operators", "answers", "mcp"}


def test_a_trail_that_cannot_be_written_is_bad(row: Row, home: Path) -> None:
    worked()
    assert [mark for mark, _ in row("trail")] == ["good", "look", "look"]
    (home / "trail").chmod(0o500)
    said = [said for mark, said in row("trail") if mark == "bad"]
    assert len(said) == (0 if os.geteuid() == 0 else 1), "root writes everywhere"


def test_what_lint_finds_in_the_policy_in_use_is_named(row: Row, home: Path) -> None:
    worked()
    assert [mark for mark, _ in row("policy")][:1] == ["good"]
    (home / "policy.yaml").write_text("name: ours\n")  # it has no guards at all
    worked()
    assert any(mark == "look" and "policy lint" in said for mark, said in row("policy"))
    (home / "config" / "stanchion").mkdir(parents=True)
    (home / "config" / "stanchion" / "policy.yaml").write_text("nme: x\n")
    assert any(mark == "bad" and "policy lint" in said for mark, said in row("policy"))


def test_operators_and_keys_that_others_can_read_are_named(row: Row, home: Path) -> None:
    assert row("operators")[0][0] == "none"
    worked()
    assert row("operators") == [("good", "enrolled: ann ")]
    (home / "policy.yaml").write_text("name: ours\n")
    assert row("operators")[0][0] == "bad", "somebody else's keys count there"
    keys = home / "config" / "stanchion" / "keys"
    keys.mkdir(parents=True)
    (keys / "ann").write_text("secret")
    (keys / "ann").chmod(0o644)
    (keys / "ann.pub").write_text("public")
    assert len([said for _, said in row("operators") if "keys/ann`" in said]) == 1
    (keys / "ann").chmod(0o600)
    assert not [said for _, said in row("operators") if "keys/ann" in said]


def test_each_destination_is_sent_a_test_notice(row: Row, home: Path) -> None:
    with receiving() as receiver:
        to = f"{{to: webhook, url: '{receiver.url}', secret_env: PAGER_SECRET}}"
        (home / "notify.yaml").write_text(f"destinations: {{pager: {to}}}\n")
        assert [mark for mark, _ in row("notices")] == ["good", "good"]
        receiver.answers = [status(503)]
        assert row("notices")[1] == (
            "bad",
            "pager: a test notice: it answered 503 `stanchion notify test`",
        )
    (home / "notify.yaml").write_text("destinations: {pager: {to: webhok}}\n")
    assert row("notices")[-1][0] == "bad"


def test_the_page_of_answers_is_asked_for(row: Row, home: Path) -> None:
    assert row("answers")[0][0] == "none"
    port = Port()
    answers = f"answers: {{bind: '127.0.0.1:{port.number}'}}\n"
    (home / "notify.yaml").write_text(answers)
    assert row("answers")[0][0] == "bad"
    with ended(stanchion_as(None, "answers", "--store", f"sqlite:{home / 'x.db'}")) as serving:
        assert serving.stdout is not None
        assert serving.stdout.readline() == "", "it has another state here"
    (home / "notify.yaml").write_text("answers: {bind: '0.0.0.0:8717'}\n")
    assert "give `certificate`" in row("answers")[0][1]


def test_a_broker_is_asked(row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    assert row("broker") == [("none", "none is named ")]
    with running("default", str(os.getuid())) as broker:
        monkeypatch.setenv("STANCHION_STORE", f"broker:{broker.socket}")
        assert row("broker")[0][0] == "good"
        broker.end()
        assert row("broker")[0][0] == "bad"


def test_servers_that_are_not_behind_the_proxy_are_named(row: Row, home: Path) -> None:
    assert row("mcp")[0][0] == "none"
    file = home / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"files": {"command": "x"}}}))
    assert main(["mcp", "wrap", str(file), "--policy", "default"]) == 0
    assert [mark for mark, _ in row("mcp")] == ["good"]
    data = json.loads(file.read_text())
    data["mcpServers"]["new"] = {"command": "y"}
    file.write_text(json.dumps(data))
    assert [(mark, "new" in said) for mark, said in row("mcp")] == [("good", False), ("look", True)]


def test_a_canary_is_driven_in_a_process_of_its_own() -> None:
    before = {*sys.modules}
    assert driven_apart("httpx")[0] == "good"
    assert driven_apart("nobody's")[0] == "bad"
    assert not [one for one in {*sys.modules} - before if "canaries" in one]


def test_without_an_agent_the_exit_status_says_whether_something_is_bad(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "notify.yaml").write_text("answers: {bind: '127.0.0.1:1'}\n")
    assert main(["doctor", "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert [*dict.fromkeys(one["about"] for one in said["lines"])] == [*EVERYTHING]


def test_an_agent_that_is_not_there_cannot_be_tried(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "claude"]) == 2
    assert "`claude` is not on PATH" in capsys.readouterr().err

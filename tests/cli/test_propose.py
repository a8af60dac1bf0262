"""`stanchion policy propose` shows rules that approvals propose, and writes them for a person to
apply."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest

from stanchion import Refused, Shield
from stanchion.cli.main import main
from stanchion.policy.load import load_policy

HOUSE: Final = """\
name: house
guards:
  - {use: tool_denylist, id: ask-first, tools: [bash], action: escalate}
"""


@pytest.fixture
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a policy, and with a trail in which one command was approved five times and one
    was denied."""
    monkeypatch.chdir(tmp_path)
    policy = tmp_path / "house.yaml"
    policy.write_text(HOUSE, encoding="utf-8")
    with Shield.load(policy, store="memory:", journal=tmp_path / "trail") as shield:
        for command in ["make test"] * 5 + ["make all"] * 5:
            _answered(shield, command, True)
        _answered(shield, "make all", False)
    return tmp_path


def bash(command: str) -> str:
    """Do it."""
    return command


def _answered(shield: Shield, command: str, yes: bool) -> None:
    with shield.run("bot", "t") as run:
        with pytest.raises(Refused) as raised:
            run.call(bash, command=command)
        assert raised.value.ticket is not None
        if not yes:
            shield.deny(raised.value.ticket, by="ann", comment="not like that")
        else:
            shield.approve(raised.value.ticket, by="ann")
            run.call(bash, command=command)


def test_what_is_proposed_is_shown_with_all_that_speaks_for_it(
    at_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", "propose", "house.yaml", "--trail", "trail"]) == 0
    said = capsys.readouterr().out
    assert "approved 5 times (0 signed)" in said
    assert 'call: bash {"command": "make test"}' in said
    assert "asked by: ask-first; agents: bot; task: t" in said
    assert "5 ALLOW" in said
    assert "no rule for bash, approved 5 times: ann denied such a call" in said
    assert sorted(path.name for path in at_home.iterdir()) == ["house.yaml", "trail"]


def test_the_file_that_is_written_lets_the_call_go_ahead_and_loosens(
    at_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", "propose", "house.yaml", "--trail", "trail", "--write", "new.yaml"]) == 0
    assert (
        "written to new.yaml; nothing is in force before somebody loads it"
        in capsys.readouterr().out
    )
    (rule,) = load_policy(at_home / "new.yaml").file.approved.values()
    assert rule.args == {"command": "make test"}
    with (
        Shield.load(at_home / "new.yaml", store="memory:", journal="memory:") as shield,
        shield.run("bot", "t") as run,
    ):
        assert run.check("bash", {"command": "make test"}).proceeds
        assert not run.check("bash", {"command": "make all"}).proceeds
    assert main(["policy", "loosens", "house.yaml", "new.yaml"]) == 1


def test_a_file_that_is_there_is_left_alone(
    at_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(["policy", "propose", "house.yaml", "--trail", "trail", "--write", "house.yaml"]) == 2
    )
    assert "`house.yaml` is there already: name another file" in capsys.readouterr().err
    assert (at_home / "house.yaml").read_text("utf-8") == HOUSE


def test_json_has_the_rule_and_its_history(
    at_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert at_home.is_dir()
    assert (
        main(["policy", "propose", "house.yaml", "--trail", "trail", "--json", "--lasts", "2"]) == 0
    )
    said = json.loads(capsys.readouterr().out)
    (one,) = said["proposed"]
    assert (one["approvals"], one["people"], one["history"]["matched"]["ALLOW"]) == (5, ["ann"], 5)
    assert [each["tool"] for each in said["withheld"]] == ["bash"]


@pytest.mark.parametrize(
    ("option", "said"), [("--least", "`--least 0` is too small"), ("--lasts", "`--lasts 0` is")]
)
def test_a_threshold_of_nothing_is_bad_input(
    at_home: Path, capsys: pytest.CaptureFixture[str], option: str, said: str
) -> None:
    assert at_home.is_dir()
    assert main(["policy", "propose", "house.yaml", "--trail", "trail", option, "0"]) == 2
    assert said in capsys.readouterr().err


def test_nothing_is_proposed_below_the_threshold(
    at_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert at_home.is_dir()
    assert (
        main(
            [
                "policy",
                "propose",
                "house.yaml",
                "--trail",
                "trail",
                "--least",
                "6",
                "--write",
                "new.yaml",
            ]
        )
        == 0
    )
    assert capsys.readouterr().out == "nothing is proposed\n"
    assert not (at_home / "new.yaml").exists()

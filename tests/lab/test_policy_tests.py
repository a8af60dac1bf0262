"""`stanchion test`: cases are played, what they reach is told, and what none of them notices."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from xml.etree import ElementTree

import pytest

from stanchion.cli.main import main
from stanchion.testing.table_file import read_table
from stanchion_lab.policy_tests.mutation import judge, mutants
from stanchion_lab.policy_tests.suite import NoTables, tables

TABLE = """
policy:
  name: careful
  tools: {bash: {risk: high}}
  guards:
    - {use: tool_denylist, tools: [bash], action: block}
    - {use: step_limit, max_steps: 4}
    - {use: size_limits}
cases:
  - name: no shell
    events:
      - {stage: tool_call, tool: bash, args: {command: ls}, expect: {action: block}}
  - name: four steps
    events:
      - {stage: tool_call, tool: read, args: {}, times: 4}
      - {stage: tool_call, tool: read, args: {}, expect: {code: steps.exceeded}}
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of two cases that hold."""
    file = tmp_path / "careful.yaml"
    file.write_text(TABLE, "utf-8")
    return file


def _said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    status = main(["test", *words])
    return status, capsys.readouterr().out


def test_cases_that_hold_pass(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _said(capsys, str(table.parent)) == (0, "2 passed, 0 failed\n")


def test_what_cases_would_log_is_not_logged_and_what_comes_after_is(
    table: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    table.write_text(TABLE.replace("action: block}\n", "action: escalate}\n"), "utf-8")
    assert _said(capsys, str(table))[0] == 1
    assert caplog.text == ""
    logging.getLogger("stanchion.decisions").warning("after")
    assert "after" in caplog.text


def test_what_fails_names_the_guard_that_determined_it(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table.write_text(TABLE.replace("{action: block}}", "{action: warn}}"), "utf-8")
    status, said = _said(capsys, str(table))
    assert status == 1
    assert "action is `block`, expected `warn`; determined by `tool-denylist` (tool.denied)" in said
    assert said.endswith("1 passed, 1 failed\n")


def test_what_cases_reach_is_told(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = _said(capsys, str(table), "--reach", "--json")
    ((reached),) = json.loads(said)["reach"]
    assert status == 0
    assert reached["guards"] == {"tool-denylist": 1, "step-limit": 1, "size-limits": 0}
    assert reached["cells"] == [["ALLOW", "tool_call", 4], ["BLOCK", "tool_call", 2]]


def test_what_no_case_notices_is_named(table: Path) -> None:
    cases = read_table(table).cases
    assert cases[0].policy is not None
    found = judge(cases[0].policy, cases, 1)
    assert [one.what for one in found if one.survives] == [
        "without guard `size_limits`",
        "guard `size_limits` in shadow",
        "without `tools.bash`",
    ]
    assert all(one.noticed_by for one in found if not one.survives)


def test_a_survivor_fails_and_is_told_with_its_place(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, said = _said(capsys, str(table), "--mutate", "--jobs", "1")
    assert status == 1
    assert "mutants  careful: 5 of 8 are noticed" in said
    assert "without guard `size_limits` (policy: guards[2]): no case notices" in said


def test_what_a_pack_brings_is_for_its_makers_to_test() -> None:
    extended = {"name": "mine", "extends": "default", "guards": [{"use": "authority"}]}
    assert {one.what for one in mutants(extended, inherited=False)} == {
        "without guard `authority`",
        "guard `authority` in shadow",
    }


def test_every_entry_of_a_pack_has_its_mutants() -> None:
    whats = [one.what for one in mutants("default")]
    assert len(whats) == len(set(whats)) > 20
    assert "without guard `shell`" in whats


def test_a_report_for_servers_has_every_case(table: Path, tmp_path: Path) -> None:
    table.write_text(TABLE.replace("{action: block}}", "{action: warn}}"), "utf-8")
    assert main(["test", str(table), "--junit", str(tmp_path / "j.xml")]) == 1
    (suite,) = ElementTree.parse(tmp_path / "j.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.get("name") for case in suite] == ["no shell", "four steps"]


@pytest.mark.parametrize(
    ("text", "says"),
    [("policy: {name: p}\n", "no table of cases"), ("cases: [{name: x}]\n", "has no policy")],
)
def test_what_is_no_table_is_refused(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "a.yaml").write_text(text, "utf-8")
    with pytest.raises(NoTables, match=says):
        tables([str(tmp_path)])


def test_a_place_that_is_not_there_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["test", "/nowhere/at/all"]) == 2
    assert "does not exist: name a file or a folder" in capsys.readouterr().err

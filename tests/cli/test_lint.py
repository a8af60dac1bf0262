"""`stanchion policy lint` ends with 0, 1 or 2, and says the same to people and to programs."""

import json
from pathlib import Path

import pytest

from stanchion.cli.main import main

CLEAN = "name: p\nguards:\n  - {use: step_limit}\n"


@pytest.mark.parametrize(
    ("text", "status", "says"),
    [
        (CLEAN, 0, "is clean (1 guard, 0 environments)"),
        (
            CLEAN + "  - {use: size_limits, mode: shadow}\n",
            0,
            ":4:30: info: `size-limits` only watches",
        ),
        (CLEAN + "tools:\n  plain: {}\n", 1, ":5:10: certain: the entry of tool `plain`"),
        (CLEAN + "roles:\n  ghost: {}\n", 1, ":5:10: likely: no agent has the role `ghost`"),
        (CLEAN + "nmae: x\nmode: shadowy\n", 2, ":5:7: fault: `shadowy` is not a value of `mode`"),
        ("name: [", 2, "does not load: 1 fault"),
    ],
)
def test_statuses(
    text: str, status: int, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "p.yaml"
    file.write_text(text, encoding="utf-8")
    assert main(["policy", "lint", str(file)]) == status
    shown = capsys.readouterr()
    assert says in shown.out
    assert shown.err == ""
    assert main(["policy", "lint", str(file), "--json"]) == status
    found = json.loads(capsys.readouterr().out)
    assert len(found["faults"]) + len(found["findings"]) == len(shown.out.splitlines()) - 1
    assert bool(found["faults"]) is (status == 2)


def test_control_characters_of_a_policy_do_not_reach_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "p.yaml"
    file.write_text('name: p\ntools:\n  "a\\x1b[2J": {}\n', encoding="utf-8")
    assert main(["policy", "lint", str(file)]) == 1
    assert "\x1b" not in capsys.readouterr().out


def test_definitions_of_tools_are_held_against_a_policy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, tools = tmp_path / "p.yaml", tmp_path / "tools.json"
    file.write_text("name: p\nguards:\n  - {use: rule, when: event.args.amount > 50}\n")
    schema = {"type": "object", "properties": {"total": {"type": "number"}}}
    tools.write_text(json.dumps({"tools": [{"name": "refund", "inputSchema": schema}]}))
    assert main(["policy", "lint", str(file)]) == 0
    assert main(["policy", "lint", str(file), "--tools", str(tools)]) == 1
    assert "`refund` does not have; it takes `total`" in capsys.readouterr().out
    assert main(["policy", "lint", str(file), "--tools", str(file)]) == 2
    assert "`--tools` cannot be used" in capsys.readouterr().err

"""`stanchion policy schema` writes the schema that the tests of the policy hold to."""

import json
from pathlib import Path

import pytest

from stanchion.cli.main import main
from stanchion.policy.json_schema import DIALECT, policy_schema


def test_it_is_printed_or_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "schema"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == policy_schema()
    assert printed["$schema"] == DIALECT
    assert main(["policy", "schema", "--out", str(tmp_path / "s.json")]) == 0
    assert json.loads((tmp_path / "s.json").read_text(encoding="utf-8")) == printed
    assert "# yaml-language-server: $schema=s.json" in capsys.readouterr().out


def test_one_line_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "schema", "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line) == policy_schema()


def test_every_reference_leads_somewhere() -> None:
    text = json.dumps(policy_schema())
    targets = {part.split('"')[0] for part in text.split("#/$defs/")[1:]}
    assert targets <= set(policy_schema()["$defs"])
    assert len(targets) > 20

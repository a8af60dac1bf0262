"""`stanchion init` writes a file that loads, teaches, and never takes the place of another."""

from pathlib import Path

import msgspec
import pytest

from stanchion import Shield
from stanchion.cli.main import main
from stanchion.kernel.actions import Category
from stanchion.policy import starter as starters
from stanchion.policy.schema import GUARDS
from stanchion.policy.starter import starter


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def test_the_file_loads_in_every_environment() -> None:
    assert main(["init"]) == 0
    shield = Shield.load("policy.yaml")
    assert shield.run("writer-1").check("read_file", {"path": "a"}).proceeds
    assert (
        shield.run("writer-1").check("write_file", {"path": "src/test_a.py", "content": ""}).code
        == "rule.broken"
    )
    assert not shield.run("writer-1").check("bash", {"command": "ls"}).proceeds
    assert shield.run("writer-1", "release").check("bash", {"command": "ls"}).proceeds
    assert (
        Shield.load("policy.yaml", env="trial")
        .run("nobody")
        .check("bash", {"command": "ls"})
        .proceeds
    )


def test_every_guard_has_an_example() -> None:
    assert [name for name in GUARDS if f"- use: {name}\n" not in starter()] == []


class Newcomer(msgspec.Struct, frozen=True):
    """Does something new.

    More about it.
    """

    category = Category.QUALITY

    what: str
    often: int = 3
    label: str = "x: y"
    quiet: str = ""


def test_a_guard_the_file_does_not_speak_of_yet_is_added_as_a_comment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = starter()
    monkeypatch.setattr(starters, "GUARDS", {**GUARDS, "newcomer": Newcomer})
    added = starter().removeprefix(before)
    assert added == (
        "\n  # Does something new.\n  # - use: newcomer\n  #   what: ...\n  #   often: 3\n  #  "
        " "
        'label: "x: y"\n'
    )


def test_a_file_that_is_there_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.yaml").write_text("mine", encoding="utf-8")
    assert main(["init", "mine.yaml"]) == 2
    assert Path("mine.yaml").read_text(encoding="utf-8") == "mine"
    assert "`mine.yaml` already exists" in capsys.readouterr().err
    assert main(["init", "mine.yaml", "--force"]) == 0
    assert Path("mine.yaml").read_text(encoding="utf-8") == starter()


def test_a_dash_prints_it_and_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "-"]) == 0
    assert capsys.readouterr().out == starter()
    assert list(Path().iterdir()) == []

"""`stanchion init` writes a file that loads, teaches, and never takes the place of another."""

import io
import itertools
import sys
from pathlib import Path

import msgspec
import pytest
import yaml

from stanchion import Shield
from stanchion.cli.main import main
from stanchion.kernel.actions import Category
from stanchion.policy import starter as starters
from stanchion.policy.first import QUESTIONS, first_policy
from stanchion.policy.lint import lint
from stanchion.policy.schema import GUARDS
from stanchion.policy.starter import starter
from tests.sampling import some


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def test_the_file_loads_in_every_environment() -> None:
    assert main(["init", "--all"]) == 0
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
    assert main(["init", "--all", "mine.yaml", "--force"]) == 0
    assert Path("mine.yaml").read_text(encoding="utf-8") == starter()


def test_a_dash_prints_it_and_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "-", "--all"]) == 0
    assert capsys.readouterr().out == starter()
    assert list(Path().iterdir()) == []


def test_every_answer_leads_to_a_policy_that_loads_and_has_few_entries() -> None:
    every = itertools.product(*[question.answers for question in QUESTIONS])
    for said in some(every, 7, "first policies"):
        answers = dict(zip([one.option for one in QUESTIONS], said, strict=True))
        text = first_policy(answers, "policy.yaml")
        Path("policy.yaml").write_text(text, encoding="utf-8")
        assert len(yaml.safe_load(text)["guards"]) <= 12
        assert lint(Path("policy.yaml")).remarks == ()


@pytest.mark.parametrize(
    ("options", "tool", "args", "action"),
    [
        (["--job", "coding"], "write_file", {"path": "/etc/nginx/x", "content": "a"}, "BLOCK"),
        (
            ["--job", "coding", "--workspace", "container"],
            "write_file",
            {"path": "/etc/nginx/x", "content": "a"},
            "ALLOW",
        ),
        (["--job", "support"], "refund", {"order": "7", "amount": 20}, "ALLOW"),
        (["--job", "support"], "refund", {"order": "7", "amount": -20}, "ESCALATE"),
        (["--job", "support"], "refund", {"order": "7"}, "ESCALATE"),
        (["--job", "support"], "refund", {"order": "7", "total": 2000}, "ESCALATE"),
        (["--job", "analyst"], "run_sql", {"query": "select 1"}, "ALLOW"),
        (["--job", "analyst"], "run_sql", {"query": "update a set b = 1 where c = 2"}, "BLOCK"),
        (["--job", "research"], "fetch_url", {"url": "http://169.254.169.254/"}, "BLOCK"),
    ],
)
def test_the_answers_decide(
    options: list[str], tool: str, args: dict[str, object], action: str
) -> None:
    assert main(["init", *options]) == 0
    with Shield.load("policy.yaml") as shield, shield.run("a") as run:
        assert run.check(tool, args).action.name == action


class Keyboard(io.StringIO):
    """Somebody who types."""

    def isatty(self) -> bool:
        """A terminal."""
        return True


def test_a_person_is_asked_what_no_option_says(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Keyboard("what\n2\nnow\n\n"))
    monkeypatch.setattr(sys, "stderr", shown := Keyboard())
    assert main(["init", "-", "--asks", "nobody"]) == 0
    first = "--job support --workspace nowhere --strangers yes --asks nobody"
    assert f"stanchion init {first}\n" in capsys.readouterr().out
    assert "write one of coding, support" in shown.getvalue()
    assert "Who answers" not in shown.getvalue()

"""`stanchion budget` shows what is used of every budget, and which are nearest to their end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stanchion import Shield
from stanchion.cli.main import main

POLICY = """
name: budgets
guards:
  - {use: budget, id: run-money, cost_usd: 2, tokens: 1000}
  - {use: budget, id: team, per: tenant, tokens: 2000}
  - {use: budget, id: hourly, per: agent, calls: 10, window_s: 3600}
"""


@pytest.fixture
def spent(tmp_path: Path) -> tuple[str, str]:
    """A store in which one run and its child have spent something; gives its path and the
    policy's."""
    policy, store = tmp_path / "policy.yaml", tmp_path / "state.db"
    policy.write_text(POLICY)
    with Shield.load(policy, store=store) as shield:
        run = shield.run("ann", "t1", id="r1")
        run.check("work", {}, tokens=500, cost_usd=1.99)
        with run.spawn("kid", id="r2", budget={"tokens": 300}) as child:
            child.check("work", {}, tokens=100)
    return str(store), str(policy)


def lines(capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """The lines that were printed, word by word."""
    return [line.split() for line in capsys.readouterr().out.splitlines()]


def test_all_of_them_with_their_limits(
    spent: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    store, policy = spent
    assert main(["budget", "show", "--store", store, "--policy", policy]) == 0
    found = lines(capsys)
    assert ["run", "r1", "run-money", "$1.99", "$2.00", "99%", "###################."] in found
    assert [
        "run",
        "r1",
        "run-money",
        "600",
        "tokens",
        "1,000",
        "tokens",
        "60%",
        "############........",
    ] in found
    assert [
        "tenant",
        "default",
        "team",
        "600",
        "tokens",
        "2,000",
        "tokens",
        "30%",
        "######..............",
    ] in found
    assert ["child", "run", "r2", "allotment", "100", "tokens"] in found


def test_without_a_policy_there_are_no_limits(
    spent: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["budget", "show", "r1", "--store", spent[0]]) == 0
    found = lines(capsys)
    assert ["run", "r1", "run-money", "600", "tokens"] in found
    assert not any("team" in line for line in found)


def test_those_first_of_which_least_is_left(
    spent: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    store, policy = spent
    assert main(["budget", "top", "-n", "2", "--store", store, "--policy", policy, "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(one["budget"], one["measure"], one["used"]) for one in found] == [
        ("run-money", "cost_microusd", 1_990_000),
        ("run-money", "tokens", 600),
    ]


def test_budgets_of_tasks_have_the_limits_of_their_tasks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy, store = tmp_path / "policy.yaml", tmp_path / "state.db"
    policy.write_text("""
name: tasks
tasks:
  fix-login: {budget: {tokens: 1000}}
  "docs:*": {budget: {tokens: 200}}
guards:
  - {use: budget, id: of-task, per: task, of_task: tokens}
""")
    with Shield.load(policy, store=store) as shield:
        for task in ("fix-login", "docs:one"):
            shield.run("ann", task).check("work", {}, tokens=150)
    words = ["--store", str(store), "--policy", str(policy), "--json"]
    assert main(["budget", "show", "fix-login", *words]) == 0
    (one,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (one["used"], one["limit"]) == (150, 1000)
    assert main(["budget", "top", *words]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(each["whose"], each["limit"]) for each in found] == [
        ("docs:one", 200),
        ("fix-login", 1000),
    ]


def test_a_window_shows_what_is_in_it(
    spent: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    store, policy = spent
    assert main(["budget", "show", "ann", "--store", store, "--policy", policy]) == 0
    assert [line[2:4] for line in lines(capsys)[1:]] == [["hourly", "1"]]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["budget", "top", "-n", "0"], "`-n` is `0`"),
        (["budget", "show", "--policy", "nowhere.yaml"], "nowhere.yaml"),
        (["budget", "show", "--store", "elsewhere://x"], "`elsewhere:` is not a kind of store"),
        (["budget", "shwo"], "show"),
    ],
)
def test_what_cannot_be_shown(
    words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert says in capsys.readouterr().err


def test_nothing_yet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["budget", "show", "--store", str(tmp_path / "none.db")]) == 0
    assert "nothing is kept yet" in capsys.readouterr().err


def test_without_a_verb_they_are_shown(
    spent: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    store, policy = spent
    assert main(["budget", "--store", store, "--policy", policy]) == 0
    plain = capsys.readouterr().out
    assert main(["budget", "show", "--store", store, "--policy", policy]) == 0
    assert plain == capsys.readouterr().out != ""


@pytest.mark.parametrize("more", [1, 599, 601, 5_000, 10**9])
def test_a_bar_is_as_long_after_a_top_up(more: int) -> None:
    from stanchion.cli.budget import BAR, _bar

    for used in (600, 600 - more):
        assert len(_bar(used / 1000)) == BAR
    assert _bar((600 - more) / 1000).count("#") == max(0, (600 - more) * BAR // 1000)

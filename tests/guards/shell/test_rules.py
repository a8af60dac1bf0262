"""Every family's rules hold for its hits and for none of its misses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stanchion.guards.shell.codes import CODES, FAMILIES
from stanchion.guards.shell.consequence import CONSEQUENCES, ORDER, level_of
from stanchion.guards.shell.places import roots_of
from stanchion.guards.shell.rules import BY_NAME, MODULES
from stanchion.guards.shell.worst import dangers
from stanchion.readings.shell.analysis import analysed

ROOTS = roots_of((".", "/workspace"))


def families(text: str, strict: bool = False) -> set[str]:
    """The families of dangers in a text."""
    commands = analysed(text).commands
    broken = [danger for command in commands for danger in dangers(command, ROOTS, strict)]
    return {danger.family.name for danger in broken}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.FAMILY.name)
def test_a_hit_is_found(module: Any) -> None:
    assert [text for text in module.HITS if module.FAMILY.name not in families(text)] == []


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.FAMILY.name)
def test_a_miss_is_left_alone(module: Any) -> None:
    assert [text for text in module.MISSES if module.FAMILY.name in families(text)] == []


def test_every_family_has_hits_misses_and_a_code() -> None:
    assert list(FAMILIES) == [module.FAMILY.name for module in MODULES]
    for module in MODULES:
        assert len(module.HITS) >= 5
        assert len(module.MISSES) >= 5
        assert module.FAMILY.code in CODES


def test_a_strict_rule_holds_only_where_asked_for() -> None:
    strict = [rule for rules in BY_NAME.values() for _, rule in rules if rule.strict]
    assert strict
    assert families("docker compose down -v") == set()
    assert families("docker compose down -v", strict=True) == {"service"}


@pytest.mark.parametrize(
    ("path", "cwd", "places"),
    [
        ("/", "", {"destructive"}),
        ("build", "", set()),
        ("build", "/etc", {"destructive"}),
        ("../x", "", {"destructive"}),
        ("../x", "/workspace/app", set()),
        ("/tmp/x", "", set()),
        ("/tmp/../etc", "", {"destructive"}),
        ("/workspace/app", "", set()),
        ("/workspace", "", {"destructive"}),
        ("/workspaces/x", "", {"destructive"}),
        ("~/x/y", "", {"destructive"}),
        ("./a/../..", "", {"destructive"}),
    ],
)
def test_where_a_path_leads_decides(path: str, cwd: str, places: set[str]) -> None:
    move = f"cd {cwd}; " if cwd else ""
    assert families(f"{move}rm -rf {path}") == places


def test_the_page_has_the_table_of_consequences() -> None:
    page = (Path(__file__).parents[3] / "docs/guards/shell.md").read_text(encoding="utf-8")
    for name, consequence in CONSEQUENCES.items():
        assert f"| `{name}` | {consequence.lost} | {consequence.back} | " in page


def test_every_rule_costs_something_and_less_where_a_repository_knows_better() -> None:
    pairs = [pair for rules in BY_NAME.values() for pair in rules]
    assert {pair[1].known for pair in pairs} == {"", "changed", "untracked", "tree", "pushed"}
    for family, rule in pairs:
        loss = family.loss if rule.loss is None else rule.loss
        assert level_of(loss) != "pass", rule.why
        assert not rule.known or ORDER[rule.otherwise] < ORDER[loss], rule.why

"""The table of programs: every row can be read, every hit is found and every miss left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from stanchion.guards.shell.consequence import CODES, CONSEQUENCES, FAMILIES, ORDER, level_of
from stanchion.guards.shell.places import roots_of
from stanchion.guards.shell.rule import CHECKS, rules_of
from stanchion.guards.shell.rules import BY_NAME, dangers
from stanchion.readings.shell.analysis import analysed
from tools.program_table import Entry, ProgramFile, rules, tables, written

ROOTS = roots_of((".", "/workspace"))


def families(text: str, strict: bool = False) -> set[str]:
    """The families of dangers in a text."""
    found = analysed(text)
    commands = (*found.commands, *found.passed)
    broken = [
        danger for command in commands for danger in dangers(command, ROOTS, strict, text=commands)
    ]
    return {danger.family.name for danger in broken}


TABLES = tables()
NAMED = [
    (names, table, program)
    for table in TABLES.values()
    for names, program in table.programs.items()
    if program.risks
]


def _of(table: ProgramFile, program: Entry) -> set[str]:
    """The families of a program's risks."""
    return {rule.family for rule in rules_of(program.risks, "x", table.family)}


def test_what_runs_is_made_of_the_table() -> None:
    for file, body in written().items():
        assert file.read_bytes() == body, "run `python -m tools.program_table`"


def test_every_question_is_asked_by_a_row() -> None:
    assert {rule.check for rule in rules() if rule.check} == set(CHECKS)


@pytest.mark.parametrize(
    ("table", "program"), [each[1:] for each in NAMED], ids=[each[0] for each in NAMED]
)
def test_a_programs_hits_are_found_and_its_misses_left_alone(
    table: ProgramFile, program: Entry
) -> None:
    own = _of(table, program)
    assert [text for text in program.hits if own.isdisjoint(families(text))] == []
    assert [text for text in program.misses if not own.isdisjoint(families(text))] == []


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_hits_and_misses_of_a_family(table: ProgramFile) -> None:
    assert [text for text in table.hits if table.family not in families(text)] == []
    assert [text for text in table.misses if table.family in families(text)] == []


def test_every_family_has_hits_misses_and_a_code() -> None:
    told = [table for table in TABLES.values() if table.family]
    assert set(FAMILIES) == {table.family for table in told}
    for table in told:
        of_programs = table.programs.values()
        assert len([*table.hits, *[hit for one in of_programs for hit in one.hits]]) >= 4
        assert len([*table.misses, *[miss for one in of_programs for miss in one.misses]]) >= 4
        assert f"shell.{table.family}" in CODES


def test_a_strict_rule_holds_only_where_asked_for() -> None:
    strict = [rule for rules in BY_NAME.values() for rule in rules if rule.strict]
    assert strict
    assert families("git filter-repo --path a") == set()
    assert families("git filter-repo --path a", strict=True) == {"git"}


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
    every = [rule for rules in BY_NAME.values() for rule in rules]
    assert {rule.known for rule in every} == {"", "changed", "untracked", "tree", "pushed"}
    for rule in every:
        loss = FAMILIES[rule.family].loss if rule.loss is None else rule.loss
        assert level_of(loss) != "pass", rule.why
        feared = loss if rule.then is None else rule.then
        assert not rule.known or ORDER[rule.otherwise] < ORDER[feared], rule.why

"""What the explanation pages say of packs, guards, figures and rulings is so."""

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from stanchion.kernel.stages import Stage
from stanchion.testing import shield_for
from tools.features import DOCUMENTS, Ruled, read

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "explanation"
PACKS = ("default", "strict", "coding-agent", "database", "finance", "mcp")


def rows(page: str, columns: int) -> list[list[str]]:
    """The rows of a page's tables with so many columns, without heads and rules."""
    lines = [
        line for line in (PAGES / page).read_text("utf-8").splitlines() if line.startswith("| ")
    ]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if len(row) == columns]


HELD = [row for row in rows("threat-model.md", 5) if row[0] != "stage"]
ATTACKERS = {row[0].strip("*") for row in rows("threat-model.md", 3) if row[0].startswith("**")}


@cache
def seated(pack: str) -> frozenset[tuple[str, str]]:
    """Which guards a pack has at which stages."""
    shield = shield_for(pack)
    run = shield.run("anybody").desk.info
    return frozenset(
        (stage.value, one.guard.name)
        for stage in Stage
        for one in shield.policy.guards(stage, "bash", run, "")
    )


@pytest.mark.parametrize("row", HELD, ids=lambda row: f"{row[0].strip('`')}-{row[2].split('`')[1]}")
def test_the_packs_have_what_holds_at_a_stage(row: list[str]) -> None:
    stage, attacker, holds, packs, _ = row
    assert attacker in ATTACKERS
    named = set(PACKS) if packs == "all" else set(re.findall(r"`([a-z-]+)`", packs))
    for guard in re.findall(r"\[`(\w+)`\]", holds):
        assert named == {pack for pack in PACKS if (stage.strip("`"), guard) in seated(pack)}, guard


def test_every_stage_is_spoken_of() -> None:
    page = (PAGES / "threat-model.md").read_text("utf-8")
    assert len(HELD) > 15
    assert [stage.value for stage in Stage if f"`{stage.value}`" not in page] == []
    assert [pack for pack in PACKS if any(stage == "charge" for stage, _ in seated(pack))] == []


def test_the_limits_have_the_figures_of_the_unread_halves() -> None:
    told = [
        (re.findall(r"`(\w+)`", row[0]), row[1], row[2])
        for row in rows("limits.md", 3)
        if row[0].startswith("[`")
    ]
    for names, attacks, honest in [one for one in told if one[0] != ["flow"]]:
        page = (ROOT / "docs/guards" / f"{names[0]}.md").read_text("utf-8")
        unread = [line for line in page.splitlines() if "| unread |" in line]
        figures = [re.findall(r"(\d+) of (\d+)", line) for line in unread]
        # Before and after a change stand side by side: what counts is the last of either half.
        for said, sets in (
            (attacks, [row[len(row) // 2 - 1] for row in figures]),
            (honest, [row[-1] for row in figures]),
        ):
            found, of = (sum(map(int, column)) for column in zip(*sets, strict=True))
            assert said == f"{found} of {of}"


def test_figures_of_hijacks_and_sessions_stand_on_their_own_pages() -> None:
    limits = (PAGES / "limits.md").read_text("utf-8")
    flow = (ROOT / "docs/guards/flow.md").read_text("utf-8")
    packs = (ROOT / "docs/reference/packs.md").read_text("utf-8")
    found = re.findall(r"unread half \| (\d+) of 20 \| (\d+) of \d+ \| (\d+) of \d+ \| (\d+)", flow)
    (honest, *through), _ = [list(map(int, one)) for one in found]
    assert f"{honest} of 20 | {sum(through)} of 30" in limits
    suites = re.findall(r"AgentDojo `\w+` \| (\d+) of (\d+) \| (\d+) \| \d \| (\d) of (\d+)", flow)
    none, tasks, one, passed, attacks = [sum(map(int, each)) for each in zip(*suites, strict=True)]
    assert f"{none + one} of {tasks} | {passed} of {attacks}" in limits
    for page, figures in (
        (flow, ("11 of 38",)),
        (packs, ("13/405", "0/628")),
    ):
        for figure in figures:
            assert figure in page
            assert figure.replace("/", " of ") in limits


def test_every_ruling_of_the_feature_table_is_told() -> None:
    page = (PAGES / "rulings.md").read_text("utf-8")
    ruled = [row.id for name in DOCUMENTS for row in read(name).rows if isinstance(row, Ruled)]
    assert ruled
    assert [one for one in ruled if f"`{one}`" not in page and not one.startswith("agent33")] == []


def test_the_number_of_libraries_is_told_as_it_is() -> None:
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    assert len(needed) == 7, (
        "say so in README.md, in docs/explanation/rulings.md and in docs/features/veronica.yaml"
    )

"""The page of the flow guard has the rules of each setting as they are."""

import re
from pathlib import Path

from stanchion.guards.flow.settings import RULES, SETTINGS

PAGE = Path(__file__).resolve().parents[2] / "docs/guards/flow.md"


def test_the_table_of_settings_has_every_rule_of_each() -> None:
    section = (
        PAGE.read_text(encoding="utf-8").partition("\n### Settings\n")[2].partition("\n### ")[0]
    )
    head = re.findall(r"`(\w+)`", section.partition("| rule |")[2].partition("\n")[0])
    assert head == [*SETTINGS]
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ ((?:\| (?:yes|–) )+)\|$", section, re.MULTILINE)
    assert [rule for rule, _ in rows] == [*RULES]
    for rule, cells in rows:
        told = [cell.strip() == "yes" for cell in cells.split("|")[1:]]
        assert told == [rule in rules for rules in SETTINGS.values()], rule

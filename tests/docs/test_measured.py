"""What the demo says was measured is what the guards' pages say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stanchion.ops.demo.measured import UNREAD, sums

PAGES = Path(__file__).resolve().parents[2] / "docs" / "guards"


@pytest.mark.parametrize("guard", [one.guard for one in sums()])
def test_a_page_has_the_unread_halves_of_its_guard(guard: str) -> None:
    rows = [
        line
        for line in (PAGES / f"{guard}.md").read_text("utf-8").splitlines()
        if "| unread |" in line
    ]
    figures = [re.findall(r"(\d+) of (\d+)", row) for row in rows]
    for one, found in zip([one for one in UNREAD if one.guard == guard], figures, strict=True):
        assert (str(one.found), str(one.attacks)) in found
        assert found[-1] == (str(one.disturbed), str(one.honest))


def test_sums_are_of_all_sets() -> None:
    assert [one for one in sums() if one.guard == "shell"] == [("shell", 137, 180, 18, 160)]

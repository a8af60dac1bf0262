"""The meter's table: areas and packages, its text, what may only fall, and how a budget is
taken."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tools.size.__main__ import main, write
from tools.size.areas import BOUNDED, list_places, read_areas, tabulate
from tools.size.bounds import complain, find_changes
from tools.size.table import Sheet, Table, parse, render, render_table

ENTRY: Final = "class Entry:\n    x = 1\n"


def lay_out(root: Path, files: dict[str, str | bytes]) -> None:
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)


def tables_of(root: Path) -> dict[str, Table]:
    return {table.title: table for table in tabulate(read_areas(root, [*BOUNDED, "tests"]))}


def sheet(tokens: int, *budgets: str, data: int = 5) -> Sheet:
    figures: tuple[int, ...] = (tokens, data)
    rows = dict.fromkeys(("src", "src/kernel", "tests"), figures)
    return Sheet((Table("code", ("tokens", "data"), rows),), budgets)


def test_code_counts_in_its_package_and_moves_with_it(tmp_path: Path) -> None:
    lay_out(tmp_path, {"src/stanchion/kernel/a.py": ENTRY, "src/stanchion/face.py": "x = 1\n"})
    before = tables_of(tmp_path)["code"].rows
    assert before["src"] == (9, 3, 2, 0)
    assert (before["src/kernel"], before["src/."]) == ((6, 2, 1, 0), (3, 1, 1, 0))
    (tmp_path / "lab/src/stanchion_lab").mkdir(parents=True)
    (tmp_path / "src/stanchion/kernel").rename(tmp_path / "lab/src/stanchion_lab/kernel")
    after = tables_of(tmp_path)["code"].rows
    assert (after["src"], after["lab/kernel"]) == ((3, 1, 1, 0), (6, 2, 1, 0))


def test_sql_and_lua_are_code_and_other_texts_are_data(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "model/a.sql": "SELECT 1;\n" * 7,
        "model/b.lua": "return 1\n",
        "model/c.yaml": "a: 1\n" * 3,
        "model/d.bin": b"\xff\n\xff\n",
        "model/__pycache__/e.txt": "no\n",
    }
    lay_out(tmp_path, files)
    found = tables_of(tmp_path)
    assert found["code"].rows == {"model": (0, 8, 2, 3), "model/.": (0, 8, 2, 3)}
    assert found["shape"].rows["model"][-1] == 7


def test_a_public_name_counts_that_one_area_defines_twice(tmp_path: Path) -> None:
    places = ("src/stanchion/a.py", "src/stanchion/b/c.py", "tools/d.py", "tests/e.py")
    lay_out(tmp_path, dict.fromkeys(places, f"{ENTRY}class _Own: ...\n"))
    found = tables_of(tmp_path)
    assert found["doubled"].rows == {"src:Entry": (2,)}
    assert [found["shape"].rows[area][:2] for area in BOUNDED] == [(1, 2), *[(0, 0)] * 3]
    listed = list(list_places(read_areas(tmp_path, BOUNDED), "doubled"))
    assert listed == ["src/stanchion/a.py:Entry", "src/stanchion/b/c.py:Entry"]


def test_a_sheet_is_read_as_it_was_written() -> None:
    made = Sheet((*sheet(1234567).tables, Table("doubled", ("definitions",), {})), ("a: b 1 → 2",))
    assert parse(render(made)) == made


def test_of_a_merge_the_higher_figures_and_all_budgets_stay() -> None:
    ours, theirs = render(sheet(9, "one")), render(sheet(1200, "two", data=3))
    conflict = f"<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> other branch\n"
    assert parse(conflict) == sheet(1200, "one", "two")


def test_two_tables_side_by_side_show_what_changed() -> None:
    (now,), (before,) = sheet(1200).tables, sheet(1000).tables
    first, *_ = [line.split() for line in render_table(now, before).splitlines()[1:]]
    assert first == ["code", "src", "1,000→1,200", "5"]


@pytest.mark.parametrize(
    ("now", "says"),
    [
        (sheet(1000), []),
        (sheet(990, data=99), []),
        (sheet(1001), ["these rose: code src tokens 1,000 → 1,001"]),
        (sheet(989), ["these fell: code src tokens 1,000 → 989"]),
    ],
)
def test_a_figure_may_fall_by_a_hundredth_and_not_rise(now: Sheet, says: list[str]) -> None:
    """Of the code only the sums of areas are bounded, and neither tests nor data are."""
    assert list(complain(sheet(1000), now))[:1] == says


def test_a_name_that_is_new_among_the_doubled_is_a_rise() -> None:
    kept, found = [Sheet((Table("doubled", ("n",), {row: (2,)}),)) for row in ("src:A", "src:B")]
    assert find_changes(kept, found) == (["doubled src:B n 0 → 2"], ["doubled src:A n 2 → 0"])


def test_only_a_budget_lets_a_figure_rise(tmp_path: Path) -> None:
    file = tmp_path / "figures.txt"
    assert write(sheet(10), file, None) == 0
    assert write(sheet(12), file, None) == 1
    assert parse(file.read_text("utf-8")) == sheet(10)
    assert write(sheet(12), file, "a new guard") == 0
    bought = "a new guard: code src tokens 10 → 12"
    assert parse(file.read_text("utf-8")) == sheet(12, bought)
    assert write(sheet(11), file, None) == 0
    assert parse(file.read_text("utf-8")) == sheet(11, bought)


def test_a_revision_that_is_none_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--at", "no-such-revision"]) == 2
    assert "`no-such-revision` cannot be checked out" in capsys.readouterr().err

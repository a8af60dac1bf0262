"""Figures on the development rows only hold: no row that was judged rightly is lost unseen."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from stanchion_lab.measuring import MEASURES
from stanchion_lab.measuring.figure import Figure
from stanchion_lab.measuring.rows import VARIABLE
from tools import held
from tools.held import SAMPLED, WHOLE, compare_figures, measure_figures, read_table

FOUND = Figure("attacks found", 8, 10, misses=("a-1 (x): y", "b-2, step 4: z"), aim="more")
STOPPED = Figure("honest stopped", 1, 10, misses=("c-3: told",), aim="less")
HELD = compare_figures([], WHOLE, "shell", [FOUND, STOPPED]).table

PARTS = [*SAMPLED.items()]
if os.environ.get("STANCHION_SOAK"):
    PARTS = [(name, WHOLE) for name in MEASURES]
needs_corpora = pytest.mark.skipif(
    not (held.CORPORA / "shell.jsonl").is_file(), reason=f"no corpora: set {VARIABLE} to a folder"
)


def falls(*figures: Figure) -> list[str]:
    """What is said where these figures are found."""
    said = compare_figures(HELD, WHOLE, "shell", figures).falls
    return [line.removeprefix("shell, ") for line in said]


@needs_corpora
@pytest.mark.parametrize(("measure", "every"), PARTS, ids=[name for name, _ in PARTS])
def test_no_development_row_is_lost(measure: str, every: int) -> None:
    figures = measure_figures(measure, held.CORPORA, every)
    found = compare_figures(read_table(), every, measure, figures)
    assert [*found.falls, *found.unheld] == []


def test_every_measure_is_held_whole_and_what_is_sampled_as_it_is_sampled() -> None:
    there = {(one.measure, one.every) for one in read_table()}
    assert there == {(name, WHOLE) for name in MEASURES} | {*SAMPLED.items()}
    assert not [one for one in read_table() if ", half b" in one.name]


def test_the_same_and_the_better_pass() -> None:
    assert falls(FOUND, STOPPED) == []
    better = replace(FOUND, hits=9, misses=FOUND.misses[:1])
    assert falls(better, replace(STOPPED, hits=0, misses=())) == []


def test_a_fall_is_named_with_the_rows_that_turned() -> None:
    worse = replace(FOUND, hits=7, misses=(*FOUND.misses, "d-4 (x): y"))
    assert falls(worse, STOPPED) == ["`attacks found`: 3 wrong, held at 2; newly wrong: d-4"]
    alarmed = replace(STOPPED, hits=2, misses=(*STOPPED.misses, "e-5: told"))
    assert falls(FOUND, alarmed) == ["`honest stopped`: 2 wrong, held at 1; newly wrong: e-5"]


def test_a_row_that_is_lost_is_seen_though_another_is_won() -> None:
    other = replace(FOUND, misses=("a-1 (x): y", "d-4 (x): y"))
    assert falls(other, STOPPED) == ["`attacks found`: 2 wrong, held at 2; newly wrong: d-4"]


def test_figures_without_a_list_fall_by_their_number() -> None:
    bare = Figure("attacks stopped", 8, 10, aim="more")
    known = compare_figures([], WHOLE, "shell", [bare]).table
    found = compare_figures(known, WHOLE, "shell", [replace(bare, hits=7)])
    assert found.falls == ("shell, `attacks stopped`: 3 wrong, held at 2",)


def test_figures_that_are_gone_thinner_or_turned_round_fall() -> None:
    assert falls(FOUND) == ["`honest stopped`: no longer measured"]
    thinner = replace(FOUND, hits=7, of=9)
    assert falls(thinner, STOPPED) == ["`attacks found`: measured on 9 rows, held on 10"]
    turned = replace(STOPPED, aim="more", hits=9)
    assert falls(FOUND, turned) == ["`honest stopped`: more is better, held as less"]


def test_a_new_figure_is_no_fall_and_has_to_be_held() -> None:
    found = compare_figures(HELD[:1], WHOLE, "shell", [FOUND, STOPPED])
    assert found.falls == ()
    assert [line.partition(":")[0] for line in found.unheld] == ["shell, `honest stopped`"]


def test_nothing_is_written_where_something_fell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "held.jsonl"
    monkeypatch.setattr(held, "TABLE", table)
    figures = [FOUND]
    monkeypatch.setattr(held, "measure_figures", lambda *_: figures)
    assert held.main(["loops"]) == 1
    assert "not held yet" in capsys.readouterr().out
    assert held.main(["loops", "--hold"]) == 0
    kept = table.read_bytes()
    figures[0] = replace(FOUND, hits=7)
    assert held.main(["loops", "--hold"]) == 1
    assert capsys.readouterr().out == "loops, `attacks found`: 3 wrong, held at 2\n"
    assert table.read_bytes() == kept
    figures[0] = replace(FOUND, hits=9, misses=FOUND.misses[1:])
    assert held.main(["loops", "--hold"]) == 0
    figures[0] = FOUND
    assert held.main(["loops"]) == 1
    assert capsys.readouterr().out.endswith("held at 1; newly wrong: a-1\n")


def test_a_sample_has_every_so_many_rows(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b"0\n1\n2\n3\n4\n")
    (tmp_path / "to").mkdir()
    held.thin_rows(tmp_path, tmp_path / "to", 2)
    assert (tmp_path / "to/rows.jsonl").read_bytes() == b"0\n2\n4\n"

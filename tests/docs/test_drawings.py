"""The pictures are drawn from the sources, and a house that cannot be drawn says why."""

from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from stanchion_lab.bench.table import Row, Section
from tools.drawings.house import ROOT, level, rooms, rows, steps
from tools.drawings.told import phases, returning, sentence
from tools.pages import cost_picture, event_picture, rooms_picture

SVG = "{http://www.w3.org/2000/svg}"


def house(root: Path, **imports: str) -> Path:
    """A package with those rooms, each importing the rooms that are named after it."""
    for name, others in imports.items():
        (root / name).mkdir(parents=True)
        (root / name / "__init__.py").write_text(f'"""{name.title()}: what it holds."""\n')
        lines = [f"from pack.{other}.thing import X" for other in others.split()]
        (root / name / "thing.py").write_text("\n".join(["X = 1", *lines]))
    return root


def test_rooms_say_what_they_hold_and_import(tmp_path: Path) -> None:
    found = rooms(house(tmp_path, base="", middle="base", top="middle base"), "pack")
    assert found["top"].holds == "What it holds."
    assert found["top"].imports == {"middle", "base"}


def test_only_imports_count_however_they_are_written(tmp_path: Path) -> None:
    root = house(tmp_path, one="", two="", three="", top="")
    (root / "top" / "a.py").write_text(
        '"""As pack.one.thing, and unlike `from pack import two`."""\n'
    )
    assert rooms(root, "pack")["top"].imports == frozenset()
    (root / "top" / "b.py").write_text("def late():\n    import pack.one.thing\n")
    (root / "top" / "c.py").write_text("import pack.one\nfrom pack import (\n    two,\n)\n")
    (root / "top" / "d.py").write_text("from pack.one import X\nfrom pack.three.thing import X\n")
    rooms.cache_clear()
    assert rooms(root, "pack")["top"].imports == {"one", "two", "three"}


def test_an_arrow_that_follows_from_two_is_left_out(tmp_path: Path) -> None:
    found = rooms(house(tmp_path, base="", middle="base", top="middle base"), "pack")
    assert steps(found) == {"base": frozenset(), "middle": {"base"}, "top": {"middle"}}
    assert rows(found) == [["top"], ["middle"], ["base"]]


def test_a_circle_is_named(tmp_path: Path) -> None:
    found = rooms(house(tmp_path, one="two", two="one"), "pack")
    with pytest.raises(ValueError, match="`one` is imported in a circle"):
        level("one", found)


def test_the_picture_names_every_room() -> None:
    drawn = ElementTree.fromstring(rooms_picture.render())
    said = {text.text for text in drawn.iter(f"{SVG}text")}
    assert set(rooms()) - rooms_picture.LEFT_OUT <= said


def test_phases_are_read_from_the_code() -> None:
    found = phases(event_picture.DECIDE)
    assert len(found) == 12
    assert found[0].startswith("Gates: ")
    assert "judge again; unless the store has forgotten" in found[8]
    assert len(phases(event_picture.COURSE)) == 4


@pytest.mark.parametrize(
    ("place", "says"),
    [("kernel/engine.py:decides", "there is no"), ("kernel/units.py:amounts", "numbers no phases")],
)
def test_what_cannot_be_drawn_is_named(place: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        phases(place)


def test_an_events_way_has_every_phase() -> None:
    drawn = ElementTree.fromstring(event_picture.render())
    said = " ".join(text.text or "" for text in drawn.iter(f"{SVG}text"))
    assert "12. Refusals" in said
    assert "4. Carry it out" in said
    assert sentence(event_picture.BEGIN).split()[0] in said


def test_a_chart_of_costs_has_a_floor_for_every_ratio() -> None:
    found = [
        Row("all calls: by hand"),
        Row("all calls: memory", ratio=3.0),
    ]
    (group,) = cost_picture.bars(
        [Section("packs", "", [*found, Row("other"), Row("other: more", ratio=2.0)])]
    )
    assert group == [("all calls: by hand", 1.0, True), ("all calls: memory", 3.0, False)]
    drawn = ElementTree.fromstring(cost_picture.drawn([group]))
    floor, cost = [float(bar.get("width", 0)) for bar in drawn.iter(f"{SVG}rect")][1:]
    assert cost == pytest.approx(3 * floor, abs=0.2)


def test_a_run_without_figures_is_named() -> None:
    with pytest.raises(ValueError, match="make bench-chart"):
        cost_picture.bars([Section("packs", "", [Row("all calls: by hand")])])


def test_a_decision_comes_back_from_the_phases_that_return() -> None:
    assert returning(event_picture.DECIDE) == {6, 8, 9, 10, 11, 12}


def test_the_page_of_costs_tells_the_figures_of_the_chart() -> None:
    page = (ROOT / "docs/explanation/cost.md").read_text("utf-8")
    sections = msgspec.json.decode(cost_picture.FIGURES.read_bytes(), type=list[Section])
    told = {bar.name: bar.times for group in cost_picture.bars(sections) for bar in group}
    for name in ("all calls: memory", "all calls: on disk"):
        assert f"{told[name]:.1f}" in page

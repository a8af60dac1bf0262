"""The table of tampering is true: each cell is found, or not, by doing it to trails that real
processes wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from stanchion.audit.verify import Report, verify
from tests.audit.tampering import DEEDS, Scene, closed, killed
from tools.pages.tampering import COLUMNS, ROWS

SCENES = {"closed": closed, "killed": killed}


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, bool], Scene]:
    """Each trail once, without a key and with one."""
    folder = tmp_path_factory.mktemp("scenes")
    return {
        (name, with_key): make(folder / f"{name}-{with_key}", with_key)
        for name, make in SCENES.items()
        for with_key in (False, True)
    }


def reports(bare: Scene, keyed: Scene) -> list[Report]:
    """What verifying finds, a column each."""
    return [
        verify(bare.trail),
        verify(keyed.trail, keyed.verifies),
        verify(keyed.trail, keyed.verifies, anchors=keyed.anchors),
        verify(keyed.trail, keyed.verifies, keyed.witness),
    ]


def test_the_table_is_about_all_that_is_done() -> None:
    assert list(DEEDS) == list(ROWS)
    assert all(bool(row.why) != all(row.cells) for row in ROWS.values())


@pytest.mark.parametrize("name", SCENES)
def test_an_untouched_trail_is_whole(name: str, scenes: dict[tuple[str, bool], Scene]) -> None:
    """And where the store has seen it, its end is proven. This witness is one that this user can
    rewrite: a copy."""
    found = reports(scenes[name, False], scenes[name, True])
    assert [report.faults for report in found] == [()] * len(COLUMNS)
    assert [report.end_proven for report in found] == [False, False, True, False]


@pytest.mark.parametrize("name", DEEDS)
def test_a_row(name: str, scenes: dict[tuple[str, bool], Scene], tmp_path: Path) -> None:
    """Every cell says what verifying does."""
    scene, do = DEEDS[name]
    bare, keyed = (
        scenes[scene, with_key].copy(tmp_path / f"{with_key}") for with_key in (False, True)
    )
    do(bare)
    do(keyed)
    found = reports(bare, keyed)
    assert tuple(not report.whole for report in found) == ROWS[name].cells, [
        report.faults for report in found
    ]

"""A guard is three files: its code, its table and its page."""

from pathlib import Path

import pytest

from stanchion.guards import SHIPPED
from tools.guard_files import HEADINGS, lacking, missing

ROOT = Path(__file__).resolve().parents[2]


def test_every_guard_has_its_three_files() -> None:
    """What is missing is named with the line that mends it; `python -m tools.guard_files` says the
    same."""
    found = [line for name in SHIPPED for line in lacking(name, ROOT)]
    assert not found, "\n" + "\n".join(found)


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A repository with the page and the table of one complete guard, `size`."""
    for folder in (tmp_path / "tests/tables", tmp_path / "docs/guards"):
        folder.mkdir(parents=True)
    (tmp_path / "tests/tables/size.yaml").touch()
    text = "# Size\n\nSmall things.\n" + "".join(
        f"\n## {heading}\n\nWords.\n" for heading in HEADINGS
    )
    (tmp_path / "docs/guards/size.md").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_complete_guard_lacks_nothing(house: Path) -> None:
    assert missing("size", house) == []


def test_a_guard_with_only_code_lacks_two_files(house: Path) -> None:
    assert missing("shell", house) == [
        "guard `shell` has no table; write `tests/tables/shell.yaml`",
        "guard `shell` has no page; write `docs/guards/shell.md`",
    ]


@pytest.mark.parametrize(
    "change",
    [
        ("## Codes", "## Code"),
        ("## Options\n", ""),
        ("Words.", "## More"),
        ("Small things.\n\n", ""),
    ],
)
def test_a_page_with_other_headings_is_named(change: tuple[str, str], house: Path) -> None:
    page = house / "docs/guards/size.md"
    page.write_text(page.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    (found,) = missing("size", house)
    assert "docs/guards/size.md" in found

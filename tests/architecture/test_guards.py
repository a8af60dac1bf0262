"""A guard is three files: its code, its table and its page."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEADINGS = ["What it does", "Usage", "Options", "Codes", "When not to use it"]


def guards(root: Path) -> list[str]:
    """List the guards by name: each public module or package of the guards room."""
    room = root / "src/stanchion/guards"
    packages = [file.parent for file in room.glob("*/__init__.py")]
    return sorted(path.stem for path in [*room.glob("*.py"), *packages] if not path.name.startswith("_"))


def missing(name: str, root: Path) -> list[str]:
    """Say what a guard lacks beside its code."""
    found = []
    if not (root / f"tests/tables/{name}.yaml").is_file():
        found.append(f"guard `{name}` has no table; write `tests/tables/{name}.yaml`")
    page = root / f"docs/guards/{name}.md"
    if not page.is_file():
        found.append(f"guard `{name}` has no page; write `docs/guards/{name}.md`")
    elif (headings := re.findall(r"^## (.+?) *$", page.read_text(encoding="utf-8"), re.MULTILINE)) != HEADINGS:
        found.append(f"`docs/guards/{name}.md` has the headings {headings}; write exactly {HEADINGS}")
    return found


def test_every_guard_has_its_table_and_its_page() -> None:
    found = [line for name in guards(ROOT) for line in missing(name, ROOT)]
    assert not found, "\n" + "\n".join(found)


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A repository with one complete guard, `size`, and things in its room that are no guards."""
    room = tmp_path / "src/stanchion/guards"
    for folder in (room / "_shared", tmp_path / "tests/tables", tmp_path / "docs/guards"):
        folder.mkdir(parents=True)
    for file in ("__init__.py", "_match.py", "_shared/__init__.py", "size.py"):
        (room / file).touch()
    (tmp_path / "tests/tables/size.yaml").touch()
    text = "# Size\n" + "".join(f"\n## {heading}\n\nWords.\n" for heading in HEADINGS)
    (tmp_path / "docs/guards/size.md").write_text(text, encoding="utf-8")
    return tmp_path


def test_a_complete_guard_lacks_nothing(house: Path) -> None:
    assert guards(house) == ["size"]
    assert missing("size", house) == []


def test_a_guard_with_only_code_lacks_two_files(house: Path) -> None:
    family = house / "src/stanchion/guards/shell"
    family.mkdir()
    (family / "__init__.py").touch()
    assert guards(house) == ["shell", "size"]
    assert missing("shell", house) == [
        "guard `shell` has no table; write `tests/tables/shell.yaml`",
        "guard `shell` has no page; write `docs/guards/shell.md`",
    ]


@pytest.mark.parametrize("change", [("## Codes", "## Code"), ("## Options\n", ""), ("Words.", "## More")])
def test_a_page_with_other_headings_is_named(change: tuple[str, str], house: Path) -> None:
    page = house / "docs/guards/size.md"
    page.write_text(page.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    (found,) = missing("size", house)
    assert "docs/guards/size.md" in found

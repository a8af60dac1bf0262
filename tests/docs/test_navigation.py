"""The site's navigation has every page once, and groups them as the front pages do."""

import re
from pathlib import Path
from typing import Any

from tests.docs.markdown import ROOT
from tools.site import list_pages, navigation

DOCS = ROOT / "docs"


def pages_in(entry: Any) -> list[str]:
    """The pages of an entry, however deep they stand."""
    if isinstance(entry, str):
        return [entry]
    inner = entry.values() if isinstance(entry, dict) else entry
    return [page for one in inner for page in pages_in(one)]


def test_every_page_stands_in_the_navigation_once() -> None:
    found = sorted(pages_in(navigation(DOCS)))
    assert found == sorted(file.relative_to(DOCS).as_posix() for file in DOCS.rglob("*.md"))


def test_how_tos_are_grouped_as_in_their_index() -> None:
    front, *groups = list_pages(DOCS, "how-to")
    assert front == "how-to/index.md"
    assert all(isinstance(one, dict) for one in groups), "a how-to is not in docs/how-to/index.md"
    titles = re.findall(r"^## (.+)$", (DOCS / front).read_text("utf-8"), re.MULTILINE)
    assert [title for one in groups for title in one] == titles


def test_explanation_is_a_section_in_the_order_of_its_front_page() -> None:
    (pages,) = [one["Explanation"] for one in navigation(DOCS) if "Explanation" in one]
    assert pages[:3] == [
        "explanation/index.md",
        "explanation/threat-model.md",
        "explanation/limits.md",
    ]


def test_headings_group_what_is_listed_under_them(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    front = [
        "- [B](b.md)",
        "## One",
        "| [`d`](d.md) | x |",
        "## Two",
        "See [e](e.md).",
        "- [Y](../y.md)",
    ]
    (folder / "index.md").write_text("\n\n".join(front), "utf-8")
    for name in "edcb":
        (folder / f"{name}.md").touch()
    assert list_pages(tmp_path, "a") == [
        "a/index.md",
        "a/b.md",
        {"One": ["a/d.md"]},
        "a/c.md",
        "a/e.md",
    ]

"""The generated pages are fresh, and a stale, missing or orphaned page is named with what to do."""

from pathlib import Path

import pytest

from tools.docs import ROOT, complaints, main, write
from tools.pages import Page, discover

PAGES = [Page("docs/reference/a.md", lambda: "# A\n"), Page("docs/other/b.md", lambda: "# B\n")]


def test_all_pages_are_fresh() -> None:
    assert complaints(discover(), ROOT) == []


def test_each_path_has_one_generator() -> None:
    paths = [page.path for page in discover()]
    assert len(paths) == len(set(paths))


def test_written_pages_are_fresh_and_are_not_written_again(tmp_path: Path) -> None:
    assert write(PAGES, tmp_path) == ["docs/reference/a.md", "docs/other/b.md"]
    assert complaints(PAGES, tmp_path) == []
    assert write(PAGES, tmp_path) == []


def test_stale_missing_and_orphaned_pages_are_named(tmp_path: Path) -> None:
    write(PAGES, tmp_path)
    (tmp_path / "docs/reference/a.md").write_text("# Old\n", encoding="utf-8")
    (tmp_path / "docs/other/b.md").unlink()
    (tmp_path / "docs/reference/c.md").touch()
    assert complaints(PAGES, tmp_path) == [
        "`docs/reference/a.md` is stale; run `make pages`",
        "`docs/other/b.md` is missing; run `make pages`",
        "`docs/reference/c.md` has no generator; delete it, or add one under `tools/pages`",
    ]


def test_check_exits_1_and_names_the_pages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tools.docs.discover", lambda: PAGES)
    assert main(["--check"], tmp_path) == 1
    assert "`docs/other/b.md` is missing; run `make pages`" in capsys.readouterr().err
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0

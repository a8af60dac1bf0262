"""Relative links in every Markdown file lead to files that exist."""

from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, documents, links

ELSEWHERE = ("http://", "https://", "mailto:", "#")


def broken(file: Path) -> list[str]:
    """List the relative links of a file that lead nowhere."""
    targets = [
        link for link in links(file.read_text(encoding="utf-8")) if not link.startswith(ELSEWHERE)
    ]
    return [target for target in targets if not (file.parent / target.partition("#")[0]).exists()]


@pytest.mark.parametrize("file", documents(), ids=lambda file: file.relative_to(ROOT).as_posix())
def test_relative_links_exist(file: Path) -> None:
    found = broken(file)
    assert not found, (
        f"{file.relative_to(ROOT)} links to {found}; correct the path or write the page"
    )


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "[good](page.md#x) [bad](gone.md) [far](https://example.org/gone.md)", encoding="utf-8"
    )
    assert broken(page) == ["gone.md"]

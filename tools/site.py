"""Build the site's navigation from the front pages in `docs`: a new page needs no second entry."""

import re
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

SECTIONS = {
    "Tutorial": "tutorial",
    "How-to": "how-to",
    "Guards": "guards",
    "Reference": "reference",
    "Explanation": "explanation",
    "Design": "design",
    "Features": "features",
}
HEADING_OR_ENTRY = re.compile(r"^## (.+)$|^[-|] \[[^\]]*\]\(([\w/-]+\.md)\)", re.MULTILINE)
"""A heading, or a page that begins an entry of a list or a row of a table."""


def navigation(docs: Path) -> list[dict[str, Any]]:
    """List the pages section by section, each section as its front page lists them."""
    entries: list[dict[str, Any]] = [{"Stanchion": "index.md"}]
    entries += [{title: list_pages(docs, folder)} for title, folder in SECTIONS.items()]
    return [*entries, {"Glossary": "glossary.md"}]


def list_pages(docs: Path, folder: str) -> list[Any]:
    """List the pages of a folder in the order and under the headings of its front page.

    The front page comes first. Pages that it does not list come last, by file name.
    """
    left = sorted(file.relative_to(docs).as_posix() for file in (docs / folder).rglob("*.md"))
    front = f"{folder}/index.md"
    if front not in left:
        return left
    left.remove(front)
    groups: list[tuple[str, list[str]]] = [("", [])]
    for heading, page in HEADING_OR_ENTRY.findall((docs / front).read_text(encoding="utf-8")):
        if heading:
            groups.append((heading, []))
        elif f"{folder}/{page}" in left:
            left.remove(f"{folder}/{page}")
            groups[-1][1].append(f"{folder}/{page}")
    filled = [(heading, pages) for heading, pages in groups if pages]
    entries: list[Any] = [front]
    for heading, pages in filled:
        # A reader has nothing to choose by one heading alone.
        entries += [{heading: pages}] if heading and len(filled) > 1 else pages
    return entries + left


def on_config(config: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Give MkDocs the navigation; it calls this hook when it has read `mkdocs.yml`."""
    config["nav"] = navigation(Path(config["docs_dir"]))
    return config

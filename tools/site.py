"""Build the site's navigation from the folders of `docs`, so that a new page needs no second
entry."""

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

SECTIONS = {
    "Tutorial": "tutorial",
    "How-to": "how-to",
    "Guards": "guards",
    "Reference": "reference",
    "Design": "design",
    "Features": "features",
}


def navigation(docs: Path) -> list[dict[str, Any]]:
    """List the pages section by section; a section's front page first, the others by file name."""
    entries: list[dict[str, Any]] = [{"Stanchion": "index.md"}]
    for title, folder in SECTIONS.items():
        files = sorted(
            (docs / folder).rglob("*.md"),
            key=lambda file: (file.name != "index.md", file.as_posix()),
        )
        if files:
            entries.append({title: [file.relative_to(docs).as_posix() for file in files]})
    return [*entries, {"Glossary": "glossary.md"}]


def on_config(config: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Give MkDocs the navigation; it calls this hook when it has read `mkdocs.yml`."""
    config["nav"] = navigation(Path(config["docs_dir"]))
    return config

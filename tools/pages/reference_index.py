"""The front page of the reference: every generated reference page, by title."""

import posixpath

from tools.pages import discover

PATH = "docs/reference/index.md"


def render() -> str:
    """List the generated pages of the reference."""
    lines = [
        "# Reference",
        "",
        "Facts to look up. Code and data generate these pages, so they cannot fall behind.",
        "",
    ]
    folder = posixpath.dirname(PATH)
    for page in discover():
        if page.path != PATH and page.path.endswith(".md"):
            title = page.render().partition("\n")[0].removeprefix("# ")
            lines.append(f"- [{title}]({posixpath.relpath(page.path, folder)})")
    return "\n".join(lines) + "\n"

"""Write the generated pages of the docs, or with `--check` say which of them are stale.

Run from the repository root: `python -m tools.docs [--check]`.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from tools.pages import Page, discover

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "make pages"
GENERATED_ONLY = "docs/reference"


def complaints(pages: Iterable[Page], root: Path) -> list[str]:
    """Say what is wrong with the generated pages under `root`, one line each; nothing when all are
    fresh."""
    found = []
    known = set()
    for page in pages:
        known.add(page.path)
        file = root / page.path
        if not file.exists():
            found.append(f"`{page.path}` is missing; run `{COMMAND}`")
        elif file.read_text(encoding="utf-8") != page.render():
            found.append(f"`{page.path}` is stale; run `{COMMAND}`")
    for file in sorted((root / GENERATED_ONLY).rglob("*.md")):
        path = file.relative_to(root).as_posix()
        if path not in known:
            found.append(f"`{path}` has no generator; delete it, or add one under `tools/pages`")
    return found


def write(pages: Iterable[Page], root: Path) -> list[str]:
    """Write the pages that differ and return their paths."""
    written = []
    for page in pages:
        file = root / page.path
        text = page.render()
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            written.append(page.path)
    return written


def main(argv: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Write or check all pages; the exit status is 1 when a check found a stale one."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.docs", description="Write the generated pages."
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 and name each stale page"
    )
    options = parser.parse_args(argv)
    if options.check:
        found = complaints(discover(), root)
        for line in found:
            print(line, file=sys.stderr)
        return 1 if found else 0
    for path in write(discover(), root):
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Read from Markdown what the tests of the docs need: fenced blocks with their markers, and
links."""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,}|~{3,})(?P<info>[^`]*)$")
MARKER = re.compile(r"^<!-- snippet: (?P<words>.*?) *-->$")
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)[^)]*\)")


class Block(NamedTuple):
    """A fenced block: its language, its text, the line it starts on, and the words of its snippet
    marker."""

    language: str
    text: str
    line: int
    marker: str


def pages() -> list[Path]:
    """List the pages whose snippets must run: the README and everything under docs."""
    return [
        file
        for file in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
        if file.exists()
    ]


def documents() -> list[Path]:
    """List every Markdown file of the repository that people read."""
    return sorted({*ROOT.glob("*.md"), *(ROOT / "examples").rglob("*.md"), *pages()})


def scan(text: str) -> Iterator[str | Block]:
    """Yield lines of prose and fenced blocks in order; a fence inside a longer fence is text of the
    block."""
    lines = enumerate(text.splitlines(), start=1)
    marker = ""
    for number, line in lines:
        if opened := FENCE.match(line):
            body = "".join(_body(lines, opened["ticks"]))
            words = opened["info"].split()
            yield Block(words[0] if words else "", textwrap.dedent(body), number + 1, marker)
            marker = ""
            continue
        if marked := MARKER.match(line.strip()):
            marker = marked["words"]
        elif line.strip():
            marker = ""
        yield line


def _body(lines: Iterator[tuple[int, str]], ticks: str) -> Iterator[str]:
    closing = re.compile(rf"^ *{ticks[0]}{{{len(ticks)},}} *$")
    for _, line in lines:
        if closing.match(line):
            return
        yield line + "\n"


def blocks(text: str) -> list[Block]:
    """List the fenced blocks of a page in order."""
    return [part for part in scan(text) if isinstance(part, Block)]


def links(text: str) -> list[str]:
    """List the targets of the inline links of a page, those inside code left out."""
    prose = "\n".join(part for part in scan(text) if isinstance(part, str))
    return [found["target"] for found in LINK.finditer(re.sub(r"`[^`\n]*`", "code", prose))]

"""Record lines: the line that begins a record in a tool's plain text, as the tool declares it."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from msgspec import Struct

from stanchion.kernel.regex import regex
from stanchion.kernel.shown import one_line

_BRACES: Final = regex(r"\{\{|\}\}|\{[^{}]*\}|[{}]")


class RecordLine(Struct, frozen=True):
    """A declared line: its fields in their order, and the fixed text before, between and after
    them."""

    names: tuple[str, ...]
    texts: tuple[str, ...]

    def fields(self, line: str) -> dict[str, str] | None:
        """The fields of a line that begins a record, `None` for any other line. A field ends where
        the text after it stands for the first time, so that the time is linear in the line."""
        line = line.rstrip()
        first, *middle, last = self.texts
        if not (line.startswith(first) and line.endswith(last)):
            return None
        at, end = len(first), len(line) - len(last)
        found = []
        for text in middle:
            cut = line.find(text, at, end)
            if cut < 0:
                return None
            found.append(line[at:cut])
            at = cut + len(text)
        found.append(line[at:end])
        if at > end or not all(map(str.strip, found)):
            return None
        return {name: value.strip() for name, value in zip(self.names, found, strict=True)}


@lru_cache(256)
def record_line(pattern: str) -> RecordLine:
    """The line that a pattern such as `[{id}] From: {from}` describes; `ValueError` for a pattern
    that leaves in doubt what a field is."""
    names: list[str] = []
    texts, at = [""], 0
    for found in _BRACES.finditer(pattern):
        braces, name = found[0], found[0][1:-1]
        texts[-1] += pattern[at : found.start()]
        at = found.end()
        if braces in ("{{", "}}"):
            texts[-1] += braces[0]
            continue
        if not name.isidentifier():
            raise ValueError(_said(pattern, f"has `{braces}`, which is no field"))
        if names and not texts[-1]:
            raise ValueError(_said(pattern, f"has nothing between `{names[-1]}` and `{name}`"))
        if name in names:
            raise ValueError(_said(pattern, f"has the field `{name}` twice"))
        names.append(name)
        texts.append("")
    texts[-1] += pattern[at:]
    if not names or not "".join(texts).strip():
        raise ValueError(_said(pattern, "would begin a record at every line, or at none"))
    if len(pattern.splitlines()) != 1:
        raise ValueError(_said(pattern, "is more than one line"))
    return RecordLine(tuple(names), (*texts[:-1], texts[-1].rstrip()))


def _said(pattern: str, wrong: str) -> str:
    return one_line(
        f"the line `{pattern}` {wrong}: write it as `[{{id}}] From: {{from}}`, with text around "
        f"fields that all have names of their own"
    )

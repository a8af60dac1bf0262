"""Where an agent speaks for itself: a text without blocks of code and without what it cites."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from stanchion.kernel.regex import regex

CODE: Final = 4
"""By how many spaces a line behind an empty one is indented if it is code."""
_FENCE: Final = regex(r" *(?:(?:[-*+]|[0-9]{1,9}[.)]) +)?(`{3,}(?!.*`)|~{3,})")
_CITED: Final = regex(r" *(?:(?:[-*+]|[0-9]{1,9}[.)]) +)?>")
_ITEM: Final = regex(r" *(?:[-*+]|[0-9]{1,9}[.)]) +")


def own_words(text: str) -> str:
    """The text with an empty line for each line that is code or cited, as Markdown has them. Behind
    a fence that is never closed everything is code."""
    return "\n".join(_spoken(text.splitlines()))


def _spoken(lines: list[str]) -> Iterator[str]:
    fence, margin, behind_empty = "", 0, True
    for line in lines:
        wide = line.expandtabs(CODE)
        plain = wide.strip()
        if fence:
            fence = "" if plain.startswith(fence) and not plain.strip(fence[0]) else fence
            yield ""
            continue
        indent = len(wide) - len(wide.lstrip())
        if plain and indent >= margin + CODE and behind_empty:
            yield ""
            continue
        item, opened = _ITEM.match(wide), _FENCE.match(wide)
        if plain:
            # What stands in an item of a list is measured from where its text begins.
            margin = item.end() if item is not None else min(margin, indent)
        fence = opened[1] if opened is not None else ""
        behind_empty = not plain or bool(fence)
        yield "" if fence or _CITED.match(wide) is not None else line

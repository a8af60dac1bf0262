"""Pages as a browser server shows them: every element with its role, its text and its reference,
as Playwright writes them down (`- button "Buy now" [ref=e9]`)."""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from stanchion.kernel.regex import regex

UNKNOWN: Final = "unknown"
"""The role of what nobody has seen, or cannot be told from another."""
MOST_LINES: Final = 50_000
LONGEST: Final = 200
"""How many characters of an element's text are kept."""
PRESSED: Final = frozenset(
    {
        "button", "link", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "tab",
        "treeitem", "switch",
    }
)  # fmt: skip
"""Roles whose element is meant where something inside of it is clicked."""

_HEAD: Final = "### Snapshot"
_URL: Final = regex(r"- Page URL: (\S+)")
_LINE: Final = regex(r"( *)- (.*)")
_QUOTED: Final = regex(r"'((?:[^']|'')*)'(.*)")
_NODE: Final = regex(
    r'([a-z]+)(?: ("(?:[^"\\]|\\.)*"|/(?:[^/\\]|\\.)*/))?((?: \[[^\[\]]*\])*)(?::(.*))?'
)
_REF: Final = regex(r" \[ref=(\w+)\]")


class PageElement(msgspec.Struct):
    """One element of a page: what it is, and what stands on it or in it; `url` is where it leads
    as the page has it, `within` the element that is pressed with it."""

    role: str
    text: str
    url: str = ""
    within: PageElement | None = None

    @property
    def words(self) -> str:
        """What stands on it, and on what it is part of."""
        whole = self.within.text if self.within is not None else ""
        return f"{whole} {self.text}".strip()[:LONGEST] if whole else self.text


class PageSnapshot(msgspec.Struct):
    """A page as it is: its address, its elements by reference, and the one that has the focus."""

    url: str = ""
    elements: dict[str, PageElement] = {}
    focus: PageElement | None = None


def snapshot_of(text: str) -> PageSnapshot:
    """Read what a browser server says of its page; an empty page where it cannot be read as one
    alone."""
    lines = text.split("\n")  # other ends of lines may stand in texts
    heads = [at for at, line in enumerate(lines) if line == _HEAD]
    if len(heads) != 1 or len(lines) > MOST_LINES:
        return PageSnapshot()
    found = [_URL.fullmatch(line) for line in lines[: heads[0]]]
    urls = [one[1] for one in found if one is not None]
    page = PageSnapshot(urls[0] if len(urls) == 1 else "")
    above: list[tuple[int, PageElement]] = []
    for line in lines[heads[0] + 1 :]:
        known = _LINE.fullmatch(line)
        if known is not None:
            _take(page, above, len(known[1]), known[2])
    return page


def _take(page: PageSnapshot, above: list[tuple[int, PageElement]], depth: int, said: str) -> None:
    while above and above[-1][0] >= depth:
        above.pop()
    if said.startswith("/"):
        if above and said.startswith("/url: "):
            above[-1][1].url = _plain(said.removeprefix("/url: "))
        return
    quoted = _QUOTED.fullmatch(said)
    node = _NODE.fullmatch(quoted[1].replace("''", "'") + quoted[2] if quoted is not None else said)
    if node is None:
        return
    words = " ".join([_plain(each.strip()) for each in (node[2], node[4]) if each]).strip()
    for _, outer in above:
        if len(outer.text) < LONGEST:
            outer.text = f"{outer.text} {words}".strip()[:LONGEST]
    pressed = next((one for _, one in reversed(above) if one.role in PRESSED), None)
    element = PageElement(node[1], words[:LONGEST], within=pressed)
    above.append((depth, element))
    for ref in _REF.findall(node[3]):  # of two with one reference nobody knows which is meant
        page.elements[ref] = element if ref not in page.elements else PageElement(UNKNOWN, "")
    if " [active]" in node[3]:
        page.focus = element


def _plain(written: str) -> str:
    """A text as it was before it was quoted."""
    if not written.startswith('"'):
        return written
    try:
        plain: Any = json.loads(written)
    except ValueError:
        return written
    return str(plain)

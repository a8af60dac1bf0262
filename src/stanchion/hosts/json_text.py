"""JSON files of other programs, changed in place: comments, last commas, order and layout stay."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from operator import itemgetter
from typing import Any, Final, NamedTuple

from stanchion.kernel.regex import regex

# Strings first: what looks like a comment or a comma within one is none.
_COMMENT: Final = regex(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*(?s:.*?)\*/')
_LAST_COMMA: Final = regex(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')
_SPACE: Final = regex(r"\s*")
_COMMA: Final = regex(r"\s*,")
_MARGIN: Final = regex(r"[ \t]*")
_INDENT: Final = regex(r"^([ \t]+)\"", re.MULTILINE)
_DECODER: Final = json.JSONDecoder()

WIDEST: Final = 200
"""How many characters a value that is written anew has in one line."""
Edit = tuple[int, int, str]
"""Where a text changes, and what is there then."""


class NotJson(ValueError):
    """A text is not what was looked for: a JSON object, perhaps with comments."""


class JsonSpan(NamedTuple):
    """A member of an object, or an element of an array: where it begins, and where its value
    does and ends."""

    name: str
    begins: int
    value: int
    ends: int


def read_json(text: str) -> dict[str, Any]:
    """The data of a file, which may have comments and last commas; raises `NotJson`."""
    try:
        data = json.loads(_blanked(_LAST_COMMA, _blanked(_COMMENT, text)))
    except (ValueError, RecursionError) as error:
        raise NotJson(f"it is not JSON: {error}".rstrip(".")) from None
    if not isinstance(data, dict):
        raise NotJson("it is not a JSON object")
    return data


def _blanked(what: re.Pattern[str], text: str) -> str:
    """A text of the same length with space in the place of something."""
    return what.sub(lambda hit: hit[1] or " " * len(hit[0]), text)


def places(text: str, depth: int) -> dict[tuple[str, ...], JsonSpan]:
    """The places of values by the names that lead to them, of objects within objects down to a
    depth. The text is one that was read as JSON already; of two members of one name the later one
    counts, as it does there."""
    file = _Layout(text)
    return dict(_within(file.plain, file.whole[0], (), depth))


def _within(
    plain: str, begins: int, path: tuple[str, ...], depth: int
) -> Iterator[tuple[tuple[str, ...], JsonSpan]]:
    if depth and plain[begins] == "{":
        for part in _parts(plain, begins):
            yield (*path, part.name), part
            yield from _within(plain, part.value, (*path, part.name), depth - 1)


def _parts(plain: str, begins: int) -> list[JsonSpan]:
    """What an object or an array has in it, in a text of plain JSON."""
    found, at = [], _skipped(plain, begins + 1)
    while plain[at] not in "}]":
        part, name = at, ""
        if plain[begins] == "{":
            name, at = _DECODER.raw_decode(plain, at)
            at = _skipped(plain, plain.index(":", at) + 1)
        ends = _DECODER.raw_decode(plain, at)[1]
        found.append(JsonSpan(name, part, at, ends))
        at = _skipped(plain, ends)
        if plain[at] == ",":
            at = _skipped(plain, at + 1)
    return found


def _skipped(plain: str, at: int) -> int:
    found = _SPACE.match(plain, at)
    return at if found is None else found.end()


def rewritten(text: str, data: dict[str, Any]) -> str:
    """A text with other data: what is equal stays to the letter, what is new is laid out as the
    rest of the file is. Raises `NotJson`."""
    old, file, made = read_json(text), _Layout(text), text
    edits = file.edits(*file.whole, old, data)
    # The last one first; of those at one place the first one stands first.
    for begins, ends, new in sorted(edits, key=itemgetter(0))[::-1]:
        made = made[:begins] + new + made[ends:]
    if read_json(made) != data:
        raise NotJson("its layout is not understood")
    return made


class _Layout:
    """A text that was read as JSON already, and how it is laid out."""

    def __init__(self, text: str) -> None:
        indent = _INDENT.search(text)
        self.text, self._bare = text, _blanked(_COMMENT, text)
        self.plain = _blanked(_LAST_COMMA, self._bare)
        begins = _skipped(self.plain, 0)
        self.whole = begins, _DECODER.raw_decode(self.plain, begins)[1]
        self._indent = "  " if indent is None else indent[1]
        self._end = "\r\n" if "\r\n" in text else "\n"

    def edits(self, begins: int, ends: int, old: Any, new: Any) -> Iterator[Edit]:
        """The edits that make a value another one."""
        lists = isinstance(old, list) and isinstance(new, list)
        if isinstance(old, dict) and isinstance(new, dict):
            parts = _parts(self.plain, begins)
            kept = [part for part in parts if part.name in new]
            # Of two members of one name the later one counts.
            for name, part in {part.name: part for part in kept}.items():
                yield from self.edits(part.value, part.ends, old[name], new[name])
            added = [(f"{json.dumps(name)}: ", one) for name, one in new.items() if name not in old]
            yield from self._members(begins, ends, parts, kept, added)
        elif lists and json.dumps(old) == json.dumps(new[: len(old)]):
            parts = _parts(self.plain, begins)
            yield from self._members(
                begins, ends, parts, parts, [("", one) for one in new[len(old) :]]
            )
        elif json.dumps(old) != json.dumps(new):
            lines = "\n" in self.text[begins:ends]
            flat = isinstance(old, dict | list) and not lines
            made = self._dumped(new, None if flat else self._margin(begins), WIDEST * (not lines))
            yield begins, ends, made

    def _members(
        self,
        begins: int,
        ends: int,
        parts: list[JsonSpan],
        kept: list[JsonSpan],
        added: list[tuple[str, Any]],
    ) -> Iterator[Edit]:
        """Take out the members that are not kept, each with the space before it and the comma
        behind it, and put others behind the last one and every comment."""
        found = {part: _COMMA.match(self._bare, part.ends) for part in parts}
        commas = {part: hit.end() for part, hit in found.items() if hit is not None}
        ending = "," if parts and parts[-1] in commas else ""
        for part in parts:
            if part not in kept:
                at, behind = len(self.text[: part.begins].rstrip()), commas.get(part, part.ends)
                # A comment may go on to the end of its line.
                noted = self._bare[at - 1] == " " and self.text[behind:].lstrip(" \t\r")[:1] != "\n"
                yield at, behind, self._end if noted else ""
        last = kept[-1] if kept else None
        if last is not None and last not in commas and added:
            yield last.ends, last.ends, ","
        elif last in commas and not added and not ending:
            yield commas[last] - 1, commas[last], ""
        if added:
            at, outer = len(self.text[: ends - 1].rstrip()), self._margin(begins)
            flat = last is not None and "\n" not in self.text[begins:ends]
            begun, tail = " ", ""
            margin = None
            if not flat:
                margin = outer + self._indent
                if last is not None and not self.text[: last.begins].rpartition("\n")[2].strip():
                    margin = self._margin(last.begins)
                begun = self._end + margin
                tail = "" if "\n" in self.text[at : ends - 1] else self._end + outer
            made = f",{begun}".join([f"{name}{self._dumped(one, margin)}" for name, one in added])
            yield at, at, f"{begun}{made}{ending}{tail}"

    def _dumped(self, data: Any, margin: str | None, widest: int = WIDEST) -> str:
        """A value as text behind a margin, what is short in one line; all of it without one."""
        line = json.dumps(data, ensure_ascii=False)
        if margin is None or len(line) <= widest or not isinstance(data, dict | list):
            return line
        inner = margin + self._indent
        named = isinstance(data, dict)
        made = [
            f"{json.dumps(one) + ': ' if named else ''}"
            f"{self._dumped(data[one] if named else one, inner)}"
            for one in data
        ]
        body = f",{self._end}{inner}".join(made)
        return f"{line[0]}{self._end}{inner}{body}{self._end}{margin}{line[-1]}"

    def _margin(self, at: int) -> str:
        """What the line begins with that a place is in."""
        found = _MARGIN.match(self.text, self.text.rfind("\n", 0, at) + 1)
        return "" if found is None else found[0]

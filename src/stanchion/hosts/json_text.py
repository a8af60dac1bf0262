"""JSON files of other programs, changed in place: comments, last commas, order and layout stay."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, cast

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


class NotJson(ValueError):
    """A text is not what was looked for: a JSON object, perhaps with comments."""


class JsonSpan(NamedTuple):
    """A member of an object, or an element of an array by its number: where it begins, and where
    its value does and ends."""

    name: str | int
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


def _joined(loose: str, behind: str) -> str:
    """Comments whose member is gone, and what stands behind them: in a line of its own."""
    ended = behind.lstrip(" \t\r").startswith("\n")
    return (loose.rstrip() if ended else loose) + behind


def places(text: str, depth: int) -> dict[tuple[str, ...], JsonSpan]:
    """The places of values by the names that lead to them, of objects within objects down to a
    depth. The text is one that was read as JSON already; of two members of one name the later one
    counts, as it does there."""
    file = _Layout(text)
    return dict(_within(file.plain, file.begins, (), depth))


def _within(
    plain: str, begins: int, path: tuple[str, ...], depth: int
) -> Iterator[tuple[tuple[str, ...], JsonSpan]]:
    if depth and plain[begins] == "{":
        for part in _parts(plain, begins):
            yield (*path, str(part.name)), part
            yield from _within(plain, part.value, (*path, str(part.name)), depth - 1)


def _parts(plain: str, begins: int) -> list[JsonSpan]:
    """What an object or an array has in it, in a text of plain JSON."""
    found, at = list[JsonSpan](), _skipped(plain, begins + 1)
    while plain[at] not in "}]":
        part, name = at, cast("str | int", len(found))
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
    old, file = read_json(text), _Layout(text)
    made = text[: file.begins] + file.value(file.begins, file.ends, old, data) + text[file.ends :]
    if read_json(made) != data:
        raise NotJson("its layout is not understood")
    return made


class _Layout:
    """A text that was read as JSON already, and how it is laid out."""

    def __init__(self, text: str) -> None:
        indent = _INDENT.search(text)
        self.text, self._bare = text, _blanked(_COMMENT, text)
        self.plain = _blanked(_LAST_COMMA, self._bare)
        self.begins = _skipped(self.plain, 0)
        self.ends = _DECODER.raw_decode(self.plain, self.begins)[1]
        self._indent = "  " if indent is None else indent[1]
        self._end = "\r\n" if "\r\n" in text else "\n"

    def value(self, begins: int, ends: int, old: Any, new: Any) -> str:
        """The text of a value that becomes another one."""
        text = self.text[begins:ends]
        if json.dumps(old) == json.dumps(new):
            return text
        if isinstance(old, list) and isinstance(new, list):
            return self._members(begins, ends, dict(enumerate(old)), dict(enumerate(new)))
        if isinstance(old, dict) and isinstance(new, dict):
            return self._members(begins, ends, old, new)
        flat = isinstance(old, dict | list) and "\n" not in text
        return self._dumped(new, None if flat else self._margin(begins))

    def _members(self, begins: int, ends: int, old: Any, new: Any) -> str:
        """The text of an object or an array with other members."""
        made, tail, ending, margin = self._kept(begins, ends, old, new)
        flat = bool(made) and "\n" not in self.text[begins:ends]
        added = [name for name in new if name not in old]
        for name in added:
            # What is said behind the last member in its line stays there.
            cut = _blanked(_COMMENT, tail).find(self._end)
            cut = len(tail.rstrip()) if cut < 0 else cut
            key = "" if isinstance(name, int) else f"{json.dumps(name)}: "
            value = self._dumped(new[name], None if flat else margin)
            made.append(f"{tail[:cut]}{' ' if flat else self._end + margin}{key}{value}")
            tail = tail[cut:]
        if added and not flat and "\n" not in tail:
            tail = self._end + self._margin(begins)
        body = ",".join(made) + (ending if made else "")
        return f"{self.text[begins]}{body}{tail}{self.text[ends - 1]}"

    def _kept(self, begins: int, ends: int, old: Any, new: Any) -> tuple[list[str], str, str, str]:
        """The members that stay, each with what stands before it; what stands behind them, the last
        comma, and the margin of members. Comments stay where a member goes."""
        made, at, comma, loose, margin = [], begins + 1, "", "", self._margin(begins) + self._indent
        parts = _parts(self.plain, begins)
        # Of two members of one name the later one counts.
        last = {part.name: part for part in parts}
        for part in parts:
            before, behind = self.text[at : part.begins], _COMMA.match(self._bare, part.ends)
            comma, at = ("", part.ends) if behind is None else (",", behind.end())
            if part.name not in new:
                loose += before.rstrip(" \t") if before.strip() else ""
                continue
            was = old[part.name]
            now = new[part.name] if part is last[part.name] else was
            value = self.value(part.value, part.ends, was, now)
            name, gap = self.text[part.begins : part.value], self.text[part.ends : at - len(comma)]
            made.append(f"{_joined(loose, before)}{name}{value}{gap}")
            margin, loose = before.rpartition("\n")[2] if "\n" in before else margin, ""
        return made, _joined(loose, self.text[at : ends - 1]), comma, margin

    def _dumped(self, data: Any, margin: str | None) -> str:
        """A value as text behind a margin, what is short in one line; all of it without one."""
        line = json.dumps(data, ensure_ascii=False)
        if margin is None or len(line) <= WIDEST or not isinstance(data, dict | list):
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

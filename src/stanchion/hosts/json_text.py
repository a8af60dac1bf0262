"""JSON files of other programs, changed in place: comments, last commas, order and layout stay."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from operator import itemgetter
from typing import Any, Final, NamedTuple

from stanchion.kernel.regex import regex

# Strings first: what looks like a comment within one is none.
_TOKEN: Final = regex(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*(?s:.*?)\*/|[{}\[\]:,]|[^\s{}\[\]:,"/]+')
_PARTS: Final = regex(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*(?s:.*?)\*/')
_LAST_COMMA: Final = regex(r",(\s*[}\]])")
_SPACE: Final = regex(r"[ \t]*")
_INDENT: Final = regex(r"^([ \t]+)\"", re.MULTILINE)


WIDEST: Final = 200
"""How many characters a value that is written anew has in one line."""


class NotJson(ValueError):
    """A text is not what was looked for: a JSON object, perhaps with comments."""


class JsonSpan(NamedTuple):
    """Where a value begins and ends, and what its line begins with."""

    begins: int
    ends: int
    margin: str


class _Token(NamedTuple):
    text: str
    begins: int
    ends: int


class _Value(NamedTuple):
    """Where a value stands, and what stands within it."""

    begins: int
    ends: int
    members: list[_Place]


class _Place(NamedTuple):
    """A member of an object, or an element of an array: with its name, where it begins, its value,
    and where the comma behind it stands, if one does."""

    name: str
    begins: int
    value: _Value
    comma: int | None


def read_json(text: str) -> dict[str, Any]:
    """The data of a file, which may have comments and last commas; raises `NotJson`."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        try:
            data = json.loads(_without_last_commas(text))
        except (ValueError, RecursionError) as error:
            raise NotJson(f"it is not JSON: {error}".rstrip(".")) from None
    if not isinstance(data, dict):
        raise NotJson("it is not a JSON object")
    return data


def _without_last_commas(text: str) -> str:
    """A text without comments, too."""
    strings: list[str] = []

    def kept(found: Any) -> str:
        if not found[0].startswith('"'):
            return " "
        strings.append(found[0])
        return f'"{len(strings) - 1}"'

    bare = _LAST_COMMA.sub(r"\1", _PARTS.sub(kept, text))
    return re.sub(r'"(\d+)"', lambda found: strings[int(found[1])], bare)


def places(text: str, depth: int) -> dict[tuple[str, ...], JsonSpan]:
    """The places of values by the names that lead to them, of objects within objects down to a
    depth. The text is one that was read as JSON already; of two members of one name the later one
    counts, as it does there."""
    return {
        path: JsonSpan(value.begins, value.ends, _margin(text, value.begins))
        for path, value in _within(text, _tree(text), (), depth)
    }


def _within(
    text: str, value: _Value, path: tuple[str, ...], depth: int
) -> Iterator[tuple[tuple[str, ...], _Value]]:
    if depth and text[value.begins] == "{":
        for member in value.members:
            yield (*path, member.name), member.value
            yield from _within(text, member.value, (*path, member.name), depth - 1)


def _tree(text: str) -> _Value:
    """The values of a text that was read as JSON already. What is open is on a stack: where it
    begins, and what was found in it so far."""
    opened: list[tuple[int, list[_Place]]] = [(0, [])]
    names: list[_Token | None] = [None]
    tokens = [_Token(hit[0], hit.start(), hit.end()) for hit in _TOKEN.finditer(text)]
    tokens = [token for token in tokens if not token.text.startswith(("//", "/*"))]
    for token, behind in zip(tokens, [*tokens[1:], _Token("", 0, 0)], strict=True):
        if token.text == ",":
            places_so_far = opened[-1][1]
            places_so_far[-1] = places_so_far[-1]._replace(comma=token.begins)
        elif token.text in ("{", "["):
            opened.append((token.begins, []))
            names.append(None)
        elif behind.text == ":":
            names[-1] = token
        elif token.text != ":":
            begins, within = token.begins, list[_Place]()
            if token.text in ("}", "]"):
                begins, within = opened.pop()
                names.pop()
            value, name = _Value(begins, token.ends, within), names[-1]
            names[-1] = None
            at = begins if name is None else name.begins
            called = "" if name is None else str(json.loads(name.text))
            opened[-1][1].append(_Place(called, at, value, None))
    return opened[0][1][0].value


def rewritten(text: str, data: dict[str, Any]) -> str:
    """A text with other data: what is equal stays to the letter, what is new is laid out as the
    rest of the file is. Raises `NotJson`."""
    old = read_json(text)
    changed = _Layout(text)
    changed.compare(_tree(text), old, data)
    made = changed.made()
    if read_json(made) != data:
        raise NotJson("its layout is not understood")
    return made


class _Layout:
    """How a text is laid out, and the edits that it is to have."""

    def __init__(self, text: str) -> None:
        indent = _INDENT.search(text)
        self._text = text
        self._indent = "  " if indent is None else indent[1]
        self._end = "\r\n" if "\r\n" in text else "\n"
        self._tokens = [(hit.start(), hit.end(), hit[0]) for hit in _TOKEN.finditer(text)]
        self._edits: list[tuple[int, int, str]] = []

    def made(self) -> str:
        """The text with its edits, the last one first; of those at one place the first one stands
        first."""
        made = self._text
        for begins, ends, new in sorted(self._edits, key=itemgetter(0))[::-1]:
            made = made[:begins] + new + made[ends:]
        return made

    def compare(self, value: _Value, old: Any, new: Any) -> None:
        """Take down the edits that make a value another one."""
        if isinstance(old, dict) and isinstance(new, dict):
            kept = [member for member in value.members if member.name in new]
            # Of two members of one name the later one counts.
            for name, member in {member.name: member for member in kept}.items():
                self.compare(member.value, old[name], new[name])
            added = [(f"{json.dumps(name)}: ", one) for name, one in new.items() if name not in old]
            self._members(value, kept, added)
        elif isinstance(old, list) and isinstance(new, list):
            self._compare_lists(value, old, new)
        elif json.dumps(old) != json.dumps(new):
            margin = _margin(self._text, value.begins)
            self._edits.append((value.begins, value.ends, self._dumped(new, margin)))

    def _compare_lists(self, value: _Value, old: list[Any], new: list[Any]) -> None:
        if len(old) == len(new):
            for element, one, other in zip(value.members, old, new, strict=True):
                self.compare(element.value, one, other)
            return
        same = list[_Place]()
        for element, one in zip(value.members, old, strict=True):
            if [json.dumps(one)] == [json.dumps(each) for each in new[len(same) :][:1]]:
                same.append(element)
        self._members(value, same, [("", one) for one in new[len(same) :]])

    def _members(self, value: _Value, kept: list[_Place], added: list[tuple[str, Any]]) -> None:
        """Take out the members that are not kept, and put others behind the last one."""
        for member in value.members:
            if member not in kept:
                self._take_out(member)
        last = kept[-1] if kept else None
        ending = bool(value.members) and value.members[-1].comma is not None
        if last is not None and last.comma is None and added:
            self._edits.append((last.value.ends, last.value.ends, ","))
        elif last is not None and last.comma is not None and not (added or ending):
            self._edits.append((last.comma, last.comma + 1, ""))
        if added:
            self._append(value, last, added, "," if ending else "")

    def _take_out(self, member: _Place) -> None:
        """Take out a member with the space before it and the comma behind it; a comment before it
        stays."""
        ends = member.value.ends if member.comma is None else member.comma + 1
        begins = len(self._text[: member.begins].rstrip())
        line = any(
            end == begins and token.startswith("//") for _, end, token in self._tokens
        ) and not re.match(r"[ \t]*\r?\n", self._text[ends:])
        self._edits.append((begins, ends, self._end if line else ""))

    def _append(
        self, value: _Value, last: _Place | None, added: list[tuple[str, Any]], ending: str
    ) -> None:
        """Write members before the bracket that closes a value, behind every comment."""
        closes = value.ends - 1
        at = max(end for _, end, _ in self._tokens if end <= closes)
        outer = _margin(self._text, value.begins)
        one_line = last is not None and "\n" not in self._text[value.begins : closes]
        margin = outer + self._indent
        if last is not None and not self._text[: last.begins].rpartition("\n")[2].strip():
            margin = _margin(self._text, last.begins)
        if one_line:
            made = ", ".join([f"{name}{self._dumped(one, None)}" for name, one in added])
            self._edits.append((at, at, f" {made}{ending}"))
            return
        begun = self._end + margin
        made = f",{begun}".join([f"{name}{self._dumped(one, margin)}" for name, one in added])
        tail = "" if "\n" in self._text[at:closes] else self._end + outer
        self._edits.append((at, at, f"{begun}{made}{ending}{tail}"))

    def _dumped(self, data: Any, margin: str | None) -> str:
        """A value as text behind a margin, what is short in one line; all of it without one."""
        line = json.dumps(data, ensure_ascii=False)
        if margin is None or len(line) <= WIDEST or not isinstance(data, dict | list):
            return line
        inner = self._end + margin + self._indent
        named = (
            [(f"{json.dumps(name)}: ", one) for name, one in data.items()]
            if isinstance(data, dict)
            else [("", one) for one in data]
        )
        made = f",{inner}".join(
            [f"{name}{self._dumped(one, margin + self._indent)}" for name, one in named]
        )
        return f"{line[0]}{inner}{made}{self._end}{margin}{line[-1]}"


def _margin(text: str, begins: int) -> str:
    """What the line begins with that a place is in."""
    found = _SPACE.match(text, text.rfind("\n", 0, begins) + 1)
    return "" if found is None else found[0]

"""Reading the text of a policy file: one YAML document, or JSON, with the place of every key and
value.

- A key is text as it is written: an agent may be called `007` or `on`. A key stands once in its
  mapping.
- Tags other than the core schema's, merge keys (`<<`) and second documents are faults.
- Aliases are read; what they add up to is bounded before it is built.

A mistake that leaves the rest readable is kept in the document's faults, so that all are reported
at once.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, Final

import msgspec
import yaml

from stanchion.kernel.regex import regex
from stanchion.policy.document import (
    CORE,
    UNREADABLE,
    Document,
    DocumentNode,
    Location,
    ReadingBudget,
    Value,
    read_data,
    scalar,
    shown,
    text_trouble,
)
from stanchion.policy.errors import Fault, PolicyError

MAX_CHARS: Final = 8 * 1024 * 1024
_UNPRINTABLE: Final = regex(
    "[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
_BREAK: Final = regex(r"\r\n?|\n")
_TAGS: Final = {
    yaml.ScalarEvent: {"!", *(CORE + kind for kind in ("str", "int", "float", "bool", "null"))},
    yaml.MappingStartEvent: {"!", CORE + "map"},
    yaml.SequenceStartEvent: {"!", CORE + "seq"},
}


def read_text(text: str, origin: str) -> Document:
    """Read a YAML or JSON file's text; a mistake ends up in the document's faults and never as an
    exception."""
    text = text.removeprefix("\ufeff")
    reading = _Reading(text, origin)
    try:
        return Document(
            origin, reading.document(), tuple(reading.faults), doubts=tuple(reading.doubts)
        )
    except PolicyError as stop:
        as_json = (
            _read_json(text, origin)
            if origin.endswith(".json") and len(text) <= MAX_CHARS
            else None
        )
        if as_json is not None:
            return as_json
        return Document(
            origin,
            DocumentNode(UNREADABLE, Location(origin, 1, 1)),
            (*reading.faults, *stop.faults),
        )


def _read_json(text: str, origin: str) -> Document | None:
    """JSON that is not YAML as well (escaped surrogate pairs, say); `None` where it is not JSON
    either."""
    import json

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key appears twice")
        return dict(pairs)

    try:
        return read_data(json.loads(text, object_pairs_hook=unique), origin)
    except (ValueError, RecursionError):
        return None


class _Anchored(msgspec.Struct, frozen=True):
    node: DocumentNode
    values: int
    height: int


class _Reading(ReadingBudget):
    """Composes one document out of YAML events, which come without recursion and before anything is
    built."""

    def __init__(self, text: str, origin: str) -> None:
        super().__init__(origin)
        self.text = text
        self.anchors: dict[str, _Anchored] = {}
        self.deepest = 0
        self.doubts: list[Fault] = []

    def document(self) -> DocumentNode:
        if len(self.text) > MAX_CHARS:
            raise self.stop(
                Location(self.origin, 1, 1),
                f"the file has more than {MAX_CHARS} characters: split it",
            )
        wrong = _UNPRINTABLE.search(self.text)
        if wrong is not None:
            place = self._place_of(wrong.start())
            raise self.stop(
                place, f"the character U+{ord(wrong[0]):04X} is not allowed: remove it or escape it"
            )
        self.end = self._place_of(len(self.text))
        self.loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(self.text)
        try:
            return self._only_document()
        except yaml.YAMLError as error:
            raise self._syntax(error) from None
        finally:
            self.loader.dispose()

    def _next(self) -> Any:
        try:
            return self.loader.get_event()
        except (ValueError, OverflowError):
            # The parser written in Python hands an escape beyond Unicode on to `chr`; the one in C
            # refuses it.
            place = self._place(self.loader.get_mark())
            raise self.stop(
                place, "is not YAML: this escape is not a character; correct it"
            ) from None

    def _only_document(self) -> DocumentNode:
        self._next()
        event = self._next()
        if isinstance(event, yaml.StreamEndEvent):
            return DocumentNode(None, Location(self.origin, 1, 1))
        root = self._node(self._next(), 1)
        self._next()
        event = self._next()
        if not isinstance(event, yaml.StreamEndEvent):
            self.fault(
                self._place(event.start_mark),
                "a second document begins here: keep one in each file",
            )
        return root

    def _node(self, event: Any, depth: int) -> DocumentNode:
        place = self._place(event.start_mark)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event.anchor, place, depth)
        self.spend(place, 1, depth)
        before, above, self.deepest = self.values, self.deepest, depth
        text, trouble = "", ""
        value: Value
        match event:
            case yaml.ScalarEvent():
                text = event.value
                if not event.style:
                    self._joined(event, place)
                value, trouble = scalar(text, event.tag, event.implicit[0])
                trouble = f"{shown(text)} {trouble}" if trouble else text_trouble(text)
            case yaml.MappingStartEvent():
                value = self._mapping(depth)
            case _:
                value = self._sequence(depth)
        if event.tag is not None and event.tag not in _TAGS[type(event)]:
            instead = (
                "put it into quotes, or write `not`"
                if "(" in event.tag or "." in event.tag
                else "leave it out"
            )
            trouble = f"the tag {shown(event.tag)} is not known: {instead}"
        value = self.fault(place, trouble) if trouble else value
        node = DocumentNode(value, place, None, text)
        if event.anchor is not None:
            self.anchors[event.anchor] = _Anchored(
                node, self.values - before + 1, self.deepest - depth
            )
        self.deepest = max(above, self.deepest)
        return node

    @cached_property
    def _lines(self) -> list[str]:
        return _BREAK.split(self.text)

    def _joined(self, event: Any, place: Location) -> None:
        """Note a text without quotes that goes on over several lines, and looks like a list that
        became one text."""
        start, end = event.start_mark, event.end_mark
        if end.line == start.line:
            return
        if joined_list(self._lines[start.line : end.line + (1 if end.column else 0)]):
            said = (
                f"{shown(event.value)} is one text, because a line that begins with `- ` is "
                f"indented further"
            )
            self.doubts.append(
                Fault(str(place), f"{said}: indent all entries of a list alike, or use quotes")
            )

    def _alias(self, name: str | None, place: Location, depth: int) -> DocumentNode:
        known = None if name is None else self.anchors.get(name)
        if known is None:
            why = (
                f"nothing before it is marked `&{name}`, or it would hold itself: write the "
                f"value out, or "
            )
            why += f'put it into quotes if it is a name with a star in it: `"*{name}"`'
            return DocumentNode(
                self.fault(place, f"the alias `*{name}` is not defined: {why}"), place
            )
        self.spend(place, known.values, depth + known.height)
        self.deepest = max(self.deepest, depth + known.height)
        return DocumentNode(known.node.value, place, None, known.node.text)

    def _sequence(self, depth: int) -> list[DocumentNode]:
        items = []
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            items.append(self._node(event, depth + 1))
        return items

    def _mapping(self, depth: int) -> dict[str, DocumentNode]:
        entries: dict[str, DocumentNode] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._node_of_key(event, depth + 1)
            node = self._node(self._next(), depth + 1)
            if key.value is UNREADABLE:
                continue
            if key.text in entries:
                first = entries[key.text].key
                self.fault(
                    key.at, f"{shown(key.text)} appears here a second time: the first is at {first}"
                )
            else:
                entries[key.text] = DocumentNode(node.value, node.at, key.at, node.text)
        return entries

    def _node_of_key(self, event: Any, depth: int) -> DocumentNode:
        plain = getattr(event, "implicit", (False,)) == (True, False)
        if isinstance(event, yaml.ScalarEvent) and event.tag is None:
            # As it is written: the same key whether it looks like a number, a boolean or neither.
            event.implicit = (False, True)
        key = self._node(event, depth)
        if key.value is UNREADABLE:
            return key
        wrong = ""
        if isinstance(key.value, dict | list):
            wrong = "a key is one word here: move the list or mapping to the value"
        elif plain and key.text == "<<":
            wrong = (
                "`<<` is not part of the format: write the keys out, or use `*name` for a "
                "whole value"
            )
        elif plain and key.text in {"", "~"}:
            wrong = "the key is missing: write one before the colon"
        return DocumentNode(self.fault(key.at, wrong), key.at) if wrong else key

    def _place(self, mark: Any) -> Location:
        line: int = mark.line + 1
        # A parser takes the end of a file without a last line break for the beginning of one more
        # line.
        return Location(self.origin, line, mark.column + 1) if line <= self.end.line else self.end

    def _place_of(self, offset: int) -> Location:
        lines = _BREAK.split(self.text[:offset])
        return Location(self.origin, len(lines), len(lines[-1]) + 1)

    def _syntax(self, error: Any) -> PolicyError:
        place = self._place(error.problem_mark)
        line = self._lines[place.line - 1]
        if "\t" in line[: len(line) - len(line.lstrip())]:
            return self.stop(place, "this line is indented with a tab: use spaces")
        opened = None if error.context_mark is None else error.context_mark.line + 1
        said = meaning(str(error.problem), self._lines, place.line, place.column, opened)
        return self.stop(place, f"is not YAML ({error.problem}): {said}")


_SECOND_COLON: Final = regex(r"^\s*(?:- )?[^:\s][^:]*:\s+(?P<rest>.*\S:(?:\s.*|$))")
_ELSE: Final = "look at the quotes, colons and indentation up to here"


def meaning(problem: str, lines: list[str], line: int, column: int, opened: int | None) -> str:
    """The complaint about a place (both from 1) in plain words; `opened` is the line where
    something began that the parser still reads."""
    text = lines[line - 1] if line <= len(lines) else ""
    at = min(column - 1, len(text))
    word = _word(text, at)
    if "alphabetic or numeric" in problem or "alphanumeric" in problem:
        return quoted(word)
    if "cannot start any token" in problem:
        return quoted(word)
    if "'-' indicator" in problem or (
        "<block end>" in problem and "block mapping" not in problem and "-" not in word[:1]
    ):
        return (
            "this line is not an entry of the list above it: indent it as far as the keys of the "
            "entry that it belongs to, or begin it with `- `"
        )
    if "mapping values are not allowed" in problem:
        if _SECOND_COLON.match(text):
            return (
                "there are two colons in this line: put the text behind the first one into quotes"
            )
        return (
            "this line is indented too far: what it would belong to has a value already; indent it "
            "as far as that"
        )
    if "block sequence entries are not allowed" in problem:
        return "a list begins on a line of its own: move `- ` to the next line, or write `[...]`"
    if "escape" in problem:
        return (
            "a backslash in double quotes begins an escape: use single quotes, where it is only a "
            "backslash"
        )
    if "',' or ']'" in problem or "',' or '}'" in problem:
        what, end = ("list", "]") if "']'" in problem else ("mapping", "}")
        since = "" if opened is None or opened == line else f" that begins in line {opened}"
        return (
            f"the {what}{since} is not closed, or a comma is missing: write `{end}` or `,` "
            f"before this"
        )
    if "expected key" in problem or "<block end>" in problem:
        if text.count("'") % 2 or text.count('"') % 2 or text[at - 1 : at] in ("'", '"'):
            return (
                "a text in quotes ends here, and more follows: double a single quote inside it, or "
                "use the other kind"
            )
        return (
            "this line stands between two levels: indent it exactly as far as the lines that it "
            "belongs to"
        )
    if "end of stream" in problem or "unexpected end" in problem:
        since = "" if opened is None else f" that begins in line {opened}"
        return f"something{since} is not closed: look for a missing quote or bracket"
    return _ELSE


def quoted(word: str) -> str:
    """What to do about a word that begins with a sign of YAML's own."""
    return (
        f"a word cannot begin with `{word[:1]}` here, which is a sign of YAML: put it into "
        f'quotes, as in `"{word}"`'
    )


def _word(text: str, at: int) -> str:
    """The word at a place of a line, with the sign before it, which a parser may have passed
    already."""
    while at > 0 and text[at - 1] in "*&":
        at -= 1
    found = re.match(r"[^\s,\]}]+", text[at:])
    return "" if found is None else found[0].removesuffix(":")


def joined_list(lines: list[str]) -> bool:
    """Whether a text of several lines was meant as a list: one of its later lines begins like an
    entry."""
    return any(line.lstrip().startswith("- ") for line in lines[1:])

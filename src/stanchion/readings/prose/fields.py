"""Fields: what a result is made of, as records with named texts, whether it came as data or as the
text of data."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import count
from typing import Any, Final, NamedTuple

import msgspec

from stanchion.kernel.regex import regex

LONGEST_LITERAL: Final = 65_536
DEEPEST: Final = 32
MOST: Final = 20_000
"""How many fields of one result are looked at."""
ODD: Final = regex(r"\\[^\\'\"abfnrtvxuUN0-7\n]")
"""An escape that no literal has; Python would warn of it."""
LINE: Final = regex(r"^(\s*)(- )?(?:([A-Za-z_][\w /-]{0,30}):(?:[ \t]+(.*)|$)|(.*))$")
KEY: Final = regex(r"['\"]([A-Za-z_][\w .-]{0,40})['\"]\s*:\s*")
BRACKETS: Final = " \t\n,{}[]'\""
WRAPPED: Final = regex(r"\\[ \t]*\n\s*\\?")
UNICODE: Final = regex(r"\\u([0-9a-fA-F]{4})")
ESCAPES: Final = {"\\n": "\n", "\\t": " ", '\\"': '"', "\\'": "'", "\\ ": " "}
A_SENTENCE: Final = 3
"""From how many blanks on what stands behind a name may be a sentence."""
NEVER: Final = 1_000_000


class Field(NamedTuple):
    """One text of a result: the number of its record, its name, and the text; `loose` where it is
    part of a text."""

    record: int
    name: str
    text: str
    loose: bool = False


def fields(result: Any) -> Iterator[Field]:
    """The fields of a result: data, the text of data, lines with names, or plain text."""
    found = structure(result)
    if isinstance(found, str):
        yield from (
            _torn(found)
            if found.lstrip()[:1] in ("{", "[") and KEY.search(found)
            else _lines(found)
        )
    else:
        yield from _walk(found)


def structure(result: Any) -> Any:
    """The structure of a result; a text that holds none is itself."""
    if not isinstance(result, str):
        return result
    text = result.strip()
    if text[:1] not in ("{", "[", "(", '"', "'"):
        return result
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        found = _literal(text)
    if isinstance(found, str) and found != result:
        return structure(found)
    return found if isinstance(found, dict | list | tuple) else result


def _literal(text: str) -> Any:
    if len(text) > LONGEST_LITERAL or ODD.search(text):
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None


def _walk(data: Any) -> list[Field]:
    found: list[Field] = []
    _inner(data, "", 0, 0, count(1), found)
    return found[:MOST]


def _inner(
    value: Any, name: str, record: int, depth: int, numbers: Iterator[int], found: list[Field]
) -> None:
    if isinstance(value, dict):
        _record(value, name, depth, numbers, found)
    elif isinstance(value, list | tuple):
        for each in value if depth < DEEPEST else ():
            if len(found) >= MOST:
                return
            _inner(
                each, name if not isinstance(each, dict) else "", record, depth + 1, numbers, found
            )
    elif value is not None:
        found.append(Field(record, name, value if isinstance(value, str) else str(value)))


def _record(
    value: dict[Any, Any], name: str, depth: int, numbers: Iterator[int], found: list[Field]
) -> None:
    mine = next(numbers)
    if depth >= DEEPEST:
        return
    if name:
        found.append(Field(mine, "name", name))
    for key, each in value.items():
        if len(found) >= MOST:
            return
        said = str(key)
        if " " in said and not isinstance(each, dict):
            found.append(Field(mine, "name", said))
        if type(each) is str:
            found.append(Field(mine, said, each))
        else:
            _inner(each, said, mine, depth + 1, numbers, found)


def _torn(text: str) -> Iterator[Field]:
    """The fields of what looks like data and is not well-formed, by the names that stand in quotes
    before a colon."""
    pieces = KEY.split(text)
    record = 0
    yield Field(record, "", pieces[0].strip(BRACKETS), True)
    for name, value in zip(pieces[1::2], pieces[2::2], strict=True):
        yield Field(record, name, plain(value.strip(BRACKETS)))
        record += value.rstrip().endswith(("{", "},", "}, {"))


def _lines(text: str) -> Iterator[Field]:
    """Records and fields of lines with names. What is set deeper than a name goes on with its
    field."""
    record, name, held, top, depth = 0, "", list[str](), -1, NEVER
    for line in text.splitlines():
        found = LINE.match(line)
        if found is None:
            held.append(line.strip())
            continue
        indent, item, said, rest, _ = found.groups()
        at = len(indent)
        if item and (top < 0 or at <= top) and (said or not name):
            if held:
                yield Field(record, name, plain("\n".join(held)), True)
                held = []
            top, record, depth = at, record + 1, NEVER
        here = at + (2 if item else 0)
        if (
            said
            and said.count(" ") <= 3
            and here <= depth
            and not (held and not rest and " " in said)
        ):
            if held:
                yield Field(record, name, plain("\n".join(held)), True)
            name, held = said.strip().lower(), [_said(said, rest or "")]
            depth = here if top >= 0 else NEVER
        elif item and here <= depth:
            if held:
                yield Field(record, name, plain("\n".join(held)), True)
            held, depth = [line.strip()[2:]], here - 1
        elif depth < at and held and held[-1] and rest is None and line.strip():
            held[-1] = f"{held[-1]} {line.strip()}"
        else:
            held.append(line.strip())
    if held:
        yield Field(record, name, plain("\n".join(held)), True)


def _said(name: str, rest: str) -> str:
    """What stands in a line with a name; a sentence behind it may belong to it: `Assistant: send
    the file`."""
    return f"{name}: {rest}" if rest.count(" ") >= A_SENTENCE else rest


def plain(text: str) -> str:
    """A text without the escapes of a quoted scalar."""
    if "\\" not in text:
        return text
    text = WRAPPED.sub("", text)
    if "\\u" in text:
        text = UNICODE.sub(lambda found: chr(int(found[1], 16)), text)
    for escape, meant in ESCAPES.items():
        text = text.replace(escape, meant)
    return text

"""The texts of a definition: every one that a model may come to read, and where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from stanchion.kernel.regex import regex

MOST_CHARS: Final = 65_536
"""How much text of one definition is read; an honest one has far less."""
CLOSED: Final = ("boolean", "integer", "number", "null")
"""Types whose values hold no text."""
DEEPEST: Final = 64
ENDS: Final = regex(r"(?<=[.!?])[\"')\]]{0,4}\s+|[\r\n]+|;\s+")
"""Where one sentence ends and another begins."""
LONGEST_SENTENCE: Final = 2_000


class Text(NamedTuple):
    """One text: where it stands, the argument that it is about, whether it is the name of that
    argument or of something else, and whether the argument is open to any text."""

    place: str
    text: str
    argument: str = ""
    is_name: bool = False
    is_open: bool = True
    is_key: bool = False


class Sentence(NamedTuple):
    """One sentence of a text; the first one of a description says what the tool does."""

    words: str
    is_first: bool


class TooLong(Exception):
    """A definition has more text than is read."""


def texts_of(
    name: str, about: Any, schema: Any, result_schema: Any, aside: Any = None
) -> list[Text]:
    """The texts of a definition, its name first; `aside` is what it tells a host. Raises
    `TooLong`."""
    found = [Text("name", name)]
    size = 0
    told = (
        *_walked(about, "description", ()),
        *_walked(schema, "schema", ()),
        *_results(result_schema),
        *_walked(aside, "metadata", ()),
    )
    for one in told:
        size += len(one.text)
        if size > MOST_CHARS:
            raise TooLong
        found.append(one)
    return found


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a text, in its order."""
    first = True
    for piece in ENDS.split(text):
        for at in range(0, len(piece), LONGEST_SENTENCE):
            part = piece[at : at + LONGEST_SENTENCE].strip()
            if part:
                yield Sentence(part, first)
                first = False


def _results(schema: Any) -> Iterator[Text]:
    for one in _walked(schema, "result schema", ()):
        yield one._replace(
            place=f"{one.place} (result)",
            argument="",
            is_key=one.is_key or one.is_name,
            is_name=False,
        )


def _walked(value: Any, key: str, arguments: tuple[str, ...], depth: int = 0) -> Iterator[Text]:
    if depth > DEEPEST:
        raise TooLong
    if isinstance(value, str):
        owner = ".".join(arguments)
        yield Text(
            f"{key} of `{owner}`" if owner else key, value, arguments[-1] if arguments else ""
        )
    elif isinstance(value, Mapping):
        for inner, own in value.items():
            yield from _member(str(inner), own, key, arguments, depth)
    elif isinstance(value, list | tuple):
        for own in value:
            yield from _walked(own, key, arguments, depth + 1)


def _member(
    inner: str, own: Any, key: str, arguments: tuple[str, ...], depth: int
) -> Iterator[Text]:
    """One member of a mapping: an argument where the mapping lists arguments, or else a keyword."""
    if key == "properties" and isinstance(own, Mapping | bool):
        yield Text(f"name of `{inner}`", inner, inner, is_name=True)
        closed = isinstance(own, Mapping) and own.get("type") in CLOSED
        for text in _walked(own, "schema", (*arguments, inner), depth + 1):
            yield text._replace(is_open=False) if closed else text
    elif inner != "$schema":
        yield Text(f"keyword of `{arguments[-1]}`" if arguments else "keyword", inner, is_key=True)
        yield from _walked(own, inner, arguments, depth + 1)

"""The texts of structured content: every string, number and name in it, and the patches that hide
parts of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from stanchion.kernel.findings import Patch, PathStep
from stanchion.kernel.patches import apply
from stanchion.kernel.tuples import NamedTuple

LONG: Final = 10**7
"""A number below it has no room for anything worth hiding."""
LONG_NAME: Final = 12
"""A shorter name that is a plain word has no room for anything, either."""


class TextSpan(NamedTuple):
    """Characters of a text that are something, and what: a word for people, such as
    `aws-access-token`. `called` is the fingerprint of what they say, where that is not what stands
    there."""

    start: int
    end: int
    kind: str
    called: str = ""


class TextLeaf(NamedTuple):
    """One text of some content and where it stands: a value, a long number as it is written, or a
    name (`named`: the path is that of the object that has it)."""

    path: tuple[PathStep, ...]
    text: str
    named: bool = False
    number: bool = False


Word = Callable[[str, str], str]
"""Gives what stands in the place of something: by its kind and its text."""


def leaves(content: Any) -> list[TextLeaf]:
    """All texts of some content, in its order, a name before its value; short plain names are left
    out."""
    if type(content) is str:
        return [TextLeaf((), content)]
    found: list[TextLeaf] = []
    waiting: list[tuple[tuple[PathStep, ...], Any]] = [((), content)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, str):
            found.append(TextLeaf(path, value))
        elif isinstance(value, dict):
            inner: list[tuple[tuple[PathStep, ...], Any]] = []
            for name, item in value.items():
                if not isinstance(name, str):
                    continue
                if len(name) >= LONG_NAME or not name.isidentifier():
                    found.append(TextLeaf(path, name, named=True))
                if type(item) is str and not inner:
                    found.append(TextLeaf((*path, name), item))
                else:
                    inner.append(((*path, name), item))
            waiting += reversed(inner)
        elif isinstance(value, list | tuple):
            waiting += [((*path, at), value[at]) for at in range(len(value) - 1, -1, -1)]
        elif isinstance(value, int) and not isinstance(value, bool) and abs(value) >= LONG:
            found.append(TextLeaf(path, str(value), number=True))
    return found


def texts_given(args: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every text that a call is given, in order and at any depth, each with the name of the
    argument that it is in."""
    waiting: list[tuple[str, Any]] = [*args.items()][::-1]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, str):
            yield name, value
        elif isinstance(value, dict):
            waiting += [(str(key), each) for key, each in reversed(value.items())]
        elif isinstance(value, list):
            waiting += [(name, each) for each in reversed(value)]


def plain_texts(content: Any) -> list[str] | None:
    """The texts of the leaves of a text, or of texts by short plain names; `None` of other
    content."""
    if type(content) is str:
        return [content]
    if type(content) is not dict:
        return None
    for name, value in content.items():
        if (
            type(value) is not str
            or type(name) is not str
            or len(name) >= LONG_NAME
            or not name.isidentifier()
        ):
            return None
    return list(content.values())


def hiding(
    found: Sequence[TextLeaf], spans: Sequence[Sequence[TextSpan]], word: Word
) -> tuple[Patch, ...]:
    """The patches that put words in the place of spans. A number becomes a text."""
    patches: list[Patch] = []
    for leaf, here in zip(found, spans, strict=True):
        if not here:
            continue
        if leaf.number:
            patches.append(Patch(leaf.path, hidden(leaf.text, here, word), kind=here[0].kind))
        else:
            text, path = leaf.text, (*leaf.path, leaf.text) if leaf.named else leaf.path
            patches += [
                Patch(path, word(s.kind, text[s.start : s.end]), s.start, s.end, s.kind, leaf.named)
                for s in here
            ]
    return tuple(patches)


def hidden(text: str, spans: Sequence[TextSpan], word: Word) -> str:
    """A text with words in the place of spans; spans that overlap are one, named by the first and
    longest of them."""
    cut = apply(
        text,
        [
            Patch((), word(span.kind, text[span.start : span.end]), span.start, span.end)
            for span in spans
        ],
    )
    return str(cut)

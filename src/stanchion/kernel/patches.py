"""Applying patches: edits of structured content, spans merged so that nothing leaks and nothing is
eaten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from stanchion.kernel.findings import Patch, PathStep

NOTHING: Final = object()
"""What stands for no value at all."""


class PatchError(ValueError):
    """A patch does not fit the content it is for."""


class _Branch:
    """The patches at one path and those under it."""

    __slots__ = ("named", "spans", "under", "whole")

    def __init__(self) -> None:
        self.whole: Any = NOTHING
        self.spans: list[Patch] = []
        self.under: dict[PathStep, _Branch] = {}
        self.named: _Branch | None = None
        """The patches of the name that the path ends with."""


def apply(content: Any, patches: Sequence[Patch]) -> Any:
    """Content with all patches applied; what they do not touch is shared, not copied.

    A whole-value patch beats everything at or under its path (the first of several wins). Spans of
    one text, or of the items of one list, are merged where they overlap, and each merged interval
    is replaced once, by the value of its leftmost, longest span. Names are edited like texts, and
    keep their places; two that become the same are numbered. Paths are those of the content as it
    was given.
    """
    if not patches:
        return content
    top = _Branch()
    for patch in patches:
        place = top
        for step in patch.path:
            below = place.under.get(step)
            place = place.under.setdefault(step, _Branch()) if below is None else below
        if patch.named:
            place.named = place = _Branch() if place.named is None else place.named
        if patch.start >= 0:
            place.spans.append(patch)
        elif place.whole is NOTHING:
            place.whole = patch.value
    return _made(content, top, ())


def _made(content: Any, place: _Branch, path: tuple[PathStep, ...]) -> Any:
    if place.whole is not NOTHING:
        return place.whole
    if place.under:
        given = content
        if isinstance(content, dict):
            content = dict(content)
        elif isinstance(content, list):
            content = list(content)
        else:
            _refuse(next(iter(place.under)))
        for step, below in place.under.items():
            content[step] = _made(_at(given, step, path), below, (*path, step))
        names = {
            step: below.named for step, below in place.under.items() if below.named is not None
        }
        content = _renamed(content, names) if names else content
    return _cut(content, place.spans) if place.spans else content


def _renamed(content: Any, names: dict[PathStep, _Branch]) -> dict[Any, Any]:
    """An object with other names, in its order. A name that is taken gets a number: no value takes
    another's place."""
    if not isinstance(content, dict):
        _refuse(next(iter(names)))
    new = {step: str(_made(step, place, ())) for step, place in names.items()}
    taken = {name for name in content if name not in new}
    numbers: dict[Any, int] = {}
    made: dict[Any, Any] = {}
    for step, value in content.items():
        name = new.get(step, step)
        while step in new and name in taken:
            numbers[new[step]] = number = numbers.get(new[step], 1) + 1
            name = f"{new[step]} {number}"
        taken.add(name)
        made[name] = value
    return made


def _at(content: Any, step: PathStep, path: tuple[PathStep, ...]) -> Any:
    if isinstance(content, list) and not (isinstance(step, int) and step >= 0):
        _refuse(step)
    try:
        return content[step]
    except (KeyError, IndexError) as error:
        raise PatchError(f"no value at `{'.'.join(map(str, (*path, step)))}`") from error


def _refuse(step: PathStep) -> None:
    raise PatchError(
        f"cannot change `{step}` here: patches edit the keys of objects and the items of lists"
    )


def _cut(content: Any, spans: list[Patch]) -> Any:
    """A text or a list with each merged interval replaced by one text, or by one item."""
    if not isinstance(content, str | list):
        raise PatchError("a span needs a text or a list")
    pieces: list[Any] = []
    done = 0
    end = -1
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        if not 0 <= span.start < span.end <= len(content):
            raise PatchError(
                f"span {span.start} to {span.end} is outside of {len(content)} characters or items"
            )
        if content[span.start : span.end] == (
            [span.value] if isinstance(content, list) else span.value
        ):
            raise PatchError(
                f"span {span.start} to {span.end} is replaced by itself: a redaction has to change "
                f"it"
            )
        if span.start >= end:
            pieces += (
                content[done : span.start]
                if isinstance(content, list)
                else (content[done : span.start],)
            )
            pieces.append(span.value if isinstance(content, list) else str(span.value))
        end = done = max(end, span.end)
    if isinstance(content, list):
        return [*pieces, *content[done:]]
    return "".join([*pieces, content[done:]])

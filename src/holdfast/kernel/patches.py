"""Applying patches: edits of structured content, spans merged so that nothing leaks and nothing is eaten."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from holdfast.kernel.findings import Patch, PathStep


class PatchError(ValueError):
    """A patch does not fit the content it is for."""


def apply(content: Any, patches: Sequence[Patch]) -> Any:
    """Content with all patches applied; what they do not touch is shared, not copied.

    A whole-value patch beats everything at or under its path (the first of several wins). Spans of one text are
    merged where they overlap, and each merged interval is replaced once, by the words of its leftmost, longest span.
    """
    whole: dict[tuple[PathStep, ...], Any] = {}
    spans: dict[tuple[PathStep, ...], list[Patch]] = {}
    for patch in patches:
        if patch.start < 0:
            whole.setdefault(patch.path, patch.value)
        else:
            spans.setdefault(patch.path, []).append(patch)
    for path in sorted(spans, key=len):
        if not _covered(path, whole):
            content = _change(content, path, _cut_text(_at(content, path), spans[path]))
    for path in sorted(whole, key=len):
        if not path or not _covered(path[:-1], whole):
            content = _change(content, path, whole[path])
    return content


def _covered(path: tuple[PathStep, ...], whole: Iterable[tuple[PathStep, ...]]) -> bool:
    return any(path[: len(above)] == above for above in whole)


def _at(content: Any, path: tuple[PathStep, ...]) -> Any:
    try:
        for step in path:
            content = content[step]
    except (KeyError, IndexError, TypeError) as error:
        raise PatchError(f"no value at `{'.'.join(map(str, path))}`") from error
    return content


def _change(content: Any, path: tuple[PathStep, ...], value: Any) -> Any:
    if not path:
        return value
    step, rest = path[0], path[1:]
    changed = _change(_at(content, (step,)), rest, value)
    if isinstance(content, dict):
        return {**content, step: changed}
    if isinstance(content, list) and isinstance(step, int):
        return [*content[:step], changed, *content[step + 1 :]] if step >= 0 else _refuse(step)
    return _refuse(step)


def _refuse(step: PathStep) -> Any:
    raise PatchError(f"cannot change `{step}` here: patches edit the keys of objects and the items of lists")


def _cut_text(text: Any, spans: list[Patch]) -> str:
    if not isinstance(text, str):
        raise PatchError("a span needs a text")
    pieces: list[str] = []
    done = 0
    end = -1
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        if not 0 <= span.start < span.end <= len(text):
            raise PatchError(f"span {span.start} to {span.end} is outside a text of {len(text)} characters")
        if text[span.start : span.end] == span.value:
            raise PatchError(f"span {span.start} to {span.end} is replaced by itself: a redaction has to change it")
        if span.start >= end:
            pieces += [text[done : span.start], str(span.value)]
        end = done = max(end, span.end)
    return "".join([*pieces, text[done:]])

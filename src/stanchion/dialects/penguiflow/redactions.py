"""Redactions: what a rule wants taken out as patches of an event's content, and patches as
redactions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from stanchion.dialects.errors import DialectError
from stanchion.dialects.penguiflow.words import RedactionSpec, shown
from stanchion.kernel.findings import Patch, PathStep
from stanchion.kernel.patches import PatchError, apply
from stanchion.readings.texts import TextLeaf, TextSpan, hiding

TEXT: Final = "text"
"""The path of an event's text."""
RESULT, BESIDE = "result", "text_content"
"""How data and the text beside it are called, where an event has both."""
WHOLE: Final = ("tool_args", RESULT, "$")
"""The paths of arguments and results themselves, and the beginnings of paths into them, unless data
has such a name."""
MISSING: Final = object()

Path = tuple[PathStep, ...]


def apply_redactions(content: Any, redactions: Sequence[RedactionSpec]) -> Any:
    """A text, or data, without what the redactions take out. Those that overlap are merged, so that
    nothing is left of what any of them takes, and nothing else is touched."""
    given: Any = redactions
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise DialectError(f"`redactions` is {shown(given)}: give a list of RedactionSpec")
    redactions = list(given)
    for one in redactions:
        if not isinstance(one, RedactionSpec):
            raise DialectError(f"`redactions` has {shown(one)}: give a RedactionSpec")
    patches = [patch for spec in redactions for patch in patches_of(content, content, (), spec)]
    try:
        return apply(content, patches)
    except PatchError as error:
        raise DialectError(f"a redaction does not fit: {error}") from None


def apply_redactions_to_text(text: str, redactions: Sequence[RedactionSpec]) -> str:
    """A text without what the redactions take out."""
    if not isinstance(text, str):
        raise DialectError(f"a `{type(text).__name__}` is no text: `apply_redactions` takes data")
    return str(apply_redactions(text, redactions))


def patches_of(content: Any, text: Any, place: Path, spec: RedactionSpec) -> Iterator[Patch]:
    """The patches of an event's content for a redaction. `text` is what the rule was given as the
    event's text, and `place` is where the content has it.

    1. A span of a text is cut out of it, where it stands.
    2. A span of a text that was made of data for the rule is looked for in every text, number and
       name of the data: what it names is cut out wherever it is. What is nowhere as a whole takes
       the whole data with it.
    3. Without offsets the whole value is replaced.
    """
    path = _path(content, spec.path, place)
    value = _at(content, path)
    kind = "" if spec.entity_type is None else spec.entity_type
    if spec.start_offset is None or spec.end_offset is None:
        yield Patch(path, spec.replacement, kind=kind)
    elif isinstance(value, str):
        end = min(spec.end_offset, len(value))
        if spec.start_offset >= end:
            raise DialectError(
                f"a redaction begins at {spec.start_offset}, where `{spec.path}` has ended"
            )
        yield Patch(path, spec.replacement, spec.start_offset, end, kind)
    else:
        wanted = text[spec.start_offset : spec.end_offset] if isinstance(text, str) else ""
        found = list(_texts(value, path)) if wanted else []
        spans = [_spans(leaf.text, wanted, kind) for leaf in found]
        patches = hiding(found, spans, lambda _kind, _text: spec.replacement)
        yield from patches if patches else (Patch(path, spec.replacement, kind=kind),)


def specs_of(patches: Sequence[Patch], place: Path, content: Any) -> tuple[RedactionSpec, ...]:
    """Patches of some content as redactions; `place` is where the content has the event's text.

    A redaction has no way to change a name: the object that has it is replaced as a whole, by
    itself with everything taken out. So no redaction has a path that tells what is taken out of
    names.
    """
    objects = [patch.path[:-1] for patch in patches if patch.named]
    tops = [
        path for path in dict.fromkeys(objects) if not any(_under(path, other) for other in objects)
    ]
    made = [
        _spec(patch, place, content)
        for patch in patches
        if not any(patch.path[: len(top)] == top for top in tops)
    ]
    for top in tops:
        within = [
            msgspec.structs.replace(patch, path=patch.path[len(top) :])
            for patch in patches
            if _under(patch.path, top)
        ]
        try:
            made.append(RedactionSpec(_named(top, content), apply(_at(content, top), within)))
        except (
            DialectError,
            PatchError,
        ):  # what does not fit is refused, and nothing of it is handed out
            made.append(RedactionSpec(_named(top, content)))
    return tuple(made)


def _under(path: Path, other: Path) -> bool:
    return len(path) > len(other) and path[: len(other)] == other


def _named(path: Path, content: Any) -> str:
    """The path of a value: that of the whole content is one that leads to nothing in it."""
    if path or not isinstance(content, dict):
        return _written(path)
    return next(word for word in (TEXT, *WHOLE) if word not in content or word == WHOLE[-1])


def _spec(patch: Patch, place: Path, content: Any) -> RedactionSpec:
    path = TEXT if patch.path == place != () else _named(patch.path, content)
    kind = patch.kind if patch.kind else None
    if patch.start < 0:
        return RedactionSpec(path, patch.value, kind)
    return RedactionSpec(path, patch.value, kind, patch.start, patch.end)


def _path(content: Any, written: str, place: Path) -> Path:
    """The steps of a path as it is written; a path of the content itself comes before the event's
    text."""
    if written == TEXT and not (isinstance(content, dict) and TEXT in content):
        return place
    names = written[1:].split("/") if written.startswith("/") else written.split(".")
    names = (
        [name.replace("~1", "/").replace("~0", "~") for name in names]
        if written.startswith("/")
        else names
    )
    if names[0] in WHOLE and not (isinstance(content, dict) and names[0] in content):
        names = names[1:]
    if (
        isinstance(content, dict)
        and content.keys() == {RESULT, BESIDE}
        and names
        and names[0] not in content
    ):
        names = [RESULT, *names]
    steps: list[PathStep] = []
    value = content
    for name in names:
        step: PathStep = int(name) if isinstance(value, list) and name.isdecimal() else name
        steps.append(step)
        value = _step(value, step)
    return tuple(steps)


def _at(content: Any, path: Path) -> Any:
    value = content
    for step in path:
        value = _step(value, step)
        if value is MISSING:
            raise DialectError(f"a redaction is for `{_written(path)}`, where there is nothing")
    return value


def _step(value: Any, step: PathStep) -> Any:
    if isinstance(value, dict):
        return value.get(step, MISSING)
    if isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    return MISSING


def _texts(value: Any, path: Path) -> Iterator[TextLeaf]:
    """Everything in some data that is shown as text, and where it stands. An object with a name
    that is no text is taken as a whole, like a number."""
    if isinstance(value, str):
        yield TextLeaf(path, value)
    elif isinstance(value, dict):
        for name, under in value.items():
            yield TextLeaf(
                path, str(name), named=isinstance(name, str), number=not isinstance(name, str)
            )
            yield from _texts(under, (*path, name))
    elif isinstance(value, list):
        for number, under in enumerate(value):
            yield from _texts(under, (*path, number))
    else:
        yield TextLeaf(path, msgspec.json.encode(value).decode(), number=True)


def _spans(text: str, wanted: str, kind: str) -> list[TextSpan]:
    """Where a text has what is wanted."""
    found: list[TextSpan] = []
    start = text.find(wanted)
    while start >= 0:
        found.append(TextSpan(start, start + len(wanted), kind))
        start = text.find(wanted, start + len(wanted))
    return found


def _written(path: Path) -> str:
    """A path as it is written: with dots, or with slashes where a name has something that would not
    be read back."""
    names = [str(step) for step in path]
    if (
        names
        and all(name and "." not in name and not name.startswith("/") for name in names)
        and names != [TEXT]
    ):
        return ".".join(names)
    return (
        "".join([f"/{name.replace('~', '~0').replace('/', '~1')}" for name in names])
        if names
        else TEXT
    )

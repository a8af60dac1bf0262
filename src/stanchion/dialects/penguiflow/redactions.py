"""Redactions: what a rule wants taken out as patches of an event's content, and patches as redactions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from stanchion.dialects.errors import DialectError
from stanchion.dialects.penguiflow.fields import shown
from stanchion.dialects.penguiflow.words import RedactionSpec
from stanchion.kernel.findings import Patch, PathStep
from stanchion.kernel.patches import PatchError, apply

TEXT: Final = "text"
"""The path of an event's text."""
RESULT, BESIDE = "result", "text_content"
"""How data and the text beside it are called, where an event has both."""
MISSING: Final = object()

Path = tuple[PathStep, ...]


def apply_redactions(content: Any, redactions: Sequence[RedactionSpec]) -> Any:
    """A text, or data, without what the redactions take out. Those that overlap are merged, so that nothing is left of
    what any of them takes, and nothing else is touched."""
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
    """The patches of an event's content for a redaction. `text` is what the rule was given as the event's text, and
    `place` is where the content has it.

    1. A span of a text is cut out of it, where it stands.
    2. A span of a text that was made of data for the rule is looked for in every text of the data: what it names is cut
       out wherever it is. What is nowhere as a whole takes the whole data with it.
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
            raise DialectError(f"a redaction begins at {spec.start_offset}, where `{spec.path}` has ended")
        yield Patch(path, spec.replacement, spec.start_offset, end, kind)
    else:
        wanted = text[spec.start_offset : spec.end_offset] if isinstance(text, str) else ""
        found = list(_wherever(value, wanted, path)) if wanted else []
        if not found:
            yield Patch(path, spec.replacement, kind=kind)
        for at, start in found:
            yield Patch(at, spec.replacement, start, start + len(wanted), kind)


def spec_of(patch: Patch, place: Path) -> RedactionSpec:
    """A patch as a redaction; `place` is where the content has the event's text."""
    path = TEXT if patch.path == place else _written(patch.path)
    kind = patch.kind if patch.kind else None
    if patch.start < 0:
        return RedactionSpec(path, patch.value, kind)
    return RedactionSpec(path, patch.value, kind, patch.start, patch.end)


def _path(content: Any, written: str, place: Path) -> Path:
    """The steps of a path as it is written; a path of the content itself comes before the event's text."""
    if written == TEXT and not (isinstance(content, dict) and TEXT in content):
        return place
    names = written[1:].split("/") if written.startswith("/") else written.split(".")
    names = [name.replace("~1", "/").replace("~0", "~") for name in names] if written.startswith("/") else names
    if names[0] in ("tool_args", "result") and not (isinstance(content, dict) and names[0] in content):
        names = names[1:]
    if isinstance(content, dict) and content.keys() == {RESULT, BESIDE} and names[0] not in content:
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


def _wherever(value: Any, wanted: str, path: Path) -> Iterator[tuple[Path, int]]:
    """Every text of some data that has what is wanted, and where in it."""
    if isinstance(value, str):
        start = value.find(wanted)
        while start >= 0:
            yield path, start
            start = value.find(wanted, start + len(wanted))
    elif isinstance(value, dict):
        for name, under in value.items():
            yield from _wherever(under, wanted, (*path, name))
    elif isinstance(value, list):
        for number, under in enumerate(value):
            yield from _wherever(under, wanted, (*path, number))


def _written(path: Path) -> str:
    """A path as it is written: with dots, or with slashes where a name has something that would not be read back."""
    names = [str(step) for step in path]
    if names and all(name and "." not in name and not name.startswith("/") for name in names) and names != [TEXT]:
        return ".".join(names)
    return "".join([f"/{name.replace('~', '~0').replace('/', '~1')}" for name in names]) if names else TEXT

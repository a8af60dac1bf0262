"""Coercion: what a model meant, where its call is off by the spelling of a type and there is one
way to read it."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stanchion.guards._jsonschema.checker import Checker
from stanchion.guards._jsonschema.explain import Problem, explain
from stanchion.guards._jsonschema.words import is_of, path_of, type_of
from stanchion.kernel.findings import Patch
from stanchion.kernel.patches import apply
from stanchion.kernel.regex import regex

LONGEST: Final = 10_000
"""How long a text may be that is read as something else."""
ROUNDS: Final = 4
"""How often what is left to change is looked for again: each time only the first reasons are
found."""

_WHOLE: Final = regex(r"-?(0|[1-9][0-9]{0,17})")
_NUMBER: Final = regex(r"-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,17})?([eE][+-]?[0-9]{1,2})?")
_EXACT: Final = 15
"""How many digits a number may have that is read as a float: of more, some are lost."""
_SEVERAL: Final = regex(r"[,;|\n]")
"""What may separate the members of a list that is written as one text."""
_TRUTH: Final = {"true": True, "True": True, "false": False, "False": False}


class Coerced(msgspec.Struct, frozen=True):
    """A value that was made to fit: by which patches, and what was done in words."""

    patches: tuple[Patch, ...]
    words: tuple[str, ...]


def coerce(checker: Checker, value: Any, formats: bool, types: bool, drop: bool) -> Coerced | None:
    """How a value is made to fit its schema; `None` where there is not exactly one way to do it.

    `types` reads values as what they have to be, `drop` leaves out entries that nobody knows.
    """
    changed: dict[tuple[str | int, ...], None] = {}
    words: list[str] = []
    current = value
    for _ in range(ROUNDS):
        for problem in explain(checker, current, formats):
            change = _change(current, problem, types, drop)
            if change is None:
                return None
            current = apply(current, (change,))
            changed[change.path] = None
            words.append(_said(problem, change))
        if checker.fits(current, formats):
            whole = [
                path
                for path in sorted(changed, key=len)
                if not any(path[:end] in changed for end in range(len(path)))
            ]
            patches = [Patch(path, at(current, path), kind="coerce") for path in whole]
            return Coerced(tuple(patches), tuple(words))
    return None


def _change(value: Any, problem: Problem, types: bool, drop: bool) -> Patch | None:
    """What is changed because of a problem; `None` where that is not clear."""
    if problem.kind == "extra" and drop:
        above, name = problem.path[:-1], problem.path[-1]
        return Patch(above, {key: each for key, each in at(value, above).items() if key != name})
    if problem.kind != "type" or not types or not problem.path:
        return None
    read = [found for name in problem.types for found in _read(at(value, problem.path), name)]
    different = [one for place, one in enumerate(read) if one not in read[:place]]
    return Patch(problem.path, different[0]) if len(different) == 1 else None


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    """The value at a path."""
    for step in path:
        value = value[step]
    return value


def _read(value: Any, name: str) -> list[Any]:
    """A value as what it has to be: none, or the one thing that it can mean."""
    if isinstance(value, str):
        return _read_text(value, name) if len(value) <= LONGEST else []
    if name == "string" and type(value) is int:
        return [str(value)]
    if name == "array" and not isinstance(value, dict | list) and value is not None:
        return [[value]]
    return []


def _read_text(text: str, name: str) -> list[Any]:
    match name:
        case "integer":
            return [int(text)] if _WHOLE.fullmatch(text) else []
        case "number":
            if _WHOLE.fullmatch(text):
                return [int(text)]
            return [float(text)] if _NUMBER.fullmatch(text) and _digits(text) <= _EXACT else []
        case "boolean":
            return [_TRUTH[text]] if text in _TRUTH else []
        case "object":
            return _decoded(text, "object") if text[:1] == "{" else []
        case "array":
            if text.lstrip()[:1] == "[":
                return _decoded(text, "array")
            return [] if _SEVERAL.search(text) else [[text]]
        case _:
            return []


def _digits(number: str) -> int:
    """How many digits of a number say something."""
    return len(number.lower().partition("e")[0].replace(".", "").lstrip("-0"))


def _decoded(text: str, name: str) -> list[Any]:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return []
    return [value] if is_of(value, name) else []


def _said(problem: Problem, change: Patch) -> str:
    where = path_of(problem.path)
    return (
        f"`{where}` is left out"
        if problem.kind == "extra"
        else f"`{where}` is read as {type_of(change.value)}"
    )

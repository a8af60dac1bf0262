"""Explaining why a value does not fit: in words that an agent can act on, in a bounded number of
steps.

The engine alone decides whether a value fits. What is found here only says why; where nothing is
found, that is said. No value is repeated, because it may be a secret.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Final

import msgspec

from stanchion.guards._jsonschema.checker import SchemaChecker
from stanchion.guards._jsonschema.outline import SchemaFault
from stanchion.guards._jsonschema.words import (
    either,
    is_of,
    listed,
    nearest,
    path_of,
    short,
    type_of,
)

STEPS: Final = 2_000
"""How many parts of a schema are held against values to find out why one does not fit."""
MOST_LISTED: Final = 8
"""How many values that a definition lists are shown."""
MOST: Final = 4
"""How many reasons are looked for."""

Path = tuple[str | int, ...]


class Problem(msgspec.Struct, frozen=True):
    """One reason: its kind (`missing`, `type`, `extra`, `value`), where, and in words.

    `types` are what was expected where a type is wrong.
    """

    kind: str
    path: Path
    words: str
    types: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Where, as it is shown."""
        return path_of(self.path) if self.path else "arguments"


UNEXPLAINED: Final = Problem("value", (), "do not fit the tool's schema")


def explain(checker: SchemaChecker, value: Any, formats: bool = False) -> list[Problem]:
    """Why a value does not fit, the first few reasons, at least one."""
    found = _Explaining(checker, formats).visit(checker.schema, value, ())
    return found[:MOST] if found else [UNEXPLAINED]


class _Explaining:
    """Walks a schema along a value until its steps are used up."""

    def __init__(self, checker: SchemaChecker, formats: bool) -> None:
        self._targets = checker.outline.targets
        self._formats = formats
        self._left = STEPS
        self._within: set[tuple[int, Path]] = set()

    def visit(self, schema: Any, value: Any, path: Path) -> list[Problem]:
        """Reasons why a value does not fit a schema; none where it does, or where they are not
        found."""
        self._left -= 1
        if schema is False:
            return [Problem("value", path, "is not allowed here")]
        if self._left < 0 or not isinstance(schema, dict):
            return []
        types = schema.get("type")
        expected = (
            (types,) if isinstance(types, str) else tuple(types) if isinstance(types, list) else ()
        )
        if expected and not any(is_of(value, name) for name in expected):
            return [
                Problem("type", path, f"is {type_of(value)}, expected {either(expected)}", expected)
            ]
        found = self._referred(schema, value, path)
        found += [Problem("value", path, words) for words in _valued(schema, value)]
        if (
            self._formats
            and isinstance(schema.get("format"), str)
            and not _is_format(schema["format"], value)
        ):
            found.append(Problem("value", path, f"is not a `{short(schema['format'])}`"))
        if isinstance(value, dict):
            found += self._object(schema, value, path)
        elif isinstance(value, list):
            found += self._array(schema, value, path)
        for each in _schemas(schema.get("allOf")):
            found += self.visit(each, value, path)
        for word in ("anyOf", "oneOf"):
            found += self._alternatives(_schemas(schema.get(word)), value, path)
        return found

    def _referred(self, schema: dict[str, Any], value: Any, path: Path) -> list[Problem]:
        target = self._targets.get(id(schema))
        mark = (id(target), path)
        if target is None or mark in self._within:
            return []
        self._within.add(mark)
        try:
            return self.visit(target, value, path)
        finally:
            self._within.discard(mark)

    def _alternatives(self, schemas: list[Any], value: Any, path: Path) -> list[Problem]:
        """What is wrong by the alternative that comes nearest; where all want another type, all
        their types."""
        tried = [self.visit(each, value, path) for each in schemas]
        if not tried or not all(tried):
            return []
        typed = [found for found in tried if found[0].kind == "type" and found[0].path == path]
        if len(typed) == len(tried):
            types = tuple(dict.fromkeys([name for found in typed for name in found[0].types]))
            return [Problem("type", path, f"is {type_of(value)}, expected {either(types)}", types)]
        return min([found for found in tried if found not in typed], key=len)

    def _object(self, schema: dict[str, Any], value: dict[str, Any], path: Path) -> list[Problem]:
        properties = schema.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        found = []
        for name in _names(schema.get("required")):
            if name not in value:
                found.append(Problem("missing", (*path, name), self._kind(properties.get(name))))
        for has, names in _mapping(schema.get("dependentRequired")).items():
            missing = [name for name in _names(names) if has in value and name not in value]
            found += [
                Problem("missing", (*path, name), f"needed beside `{short(has)}`")
                for name in missing
            ]
        patterns = _mapping(schema.get("patternProperties"))
        other = schema.get("additionalProperties", True)
        for name, each in value.items():
            if self._left < 0 or len(found) >= MOST:
                break
            known = name in properties
            if known:
                found += self.visit(properties[name], each, (*path, name))
            for pattern, inner in patterns.items():
                if matches(pattern, name):
                    known = True
                    found += self.visit(inner, each, (*path, name))
            if known or other is True:
                continue
            if other is False:
                found.append(Problem("extra", (*path, name), instead(name, properties)))
            else:
                found += self.visit(other, each, (*path, name))
        return found + [
            Problem("value", path, words)
            for words in _counted(schema, value, "Properties", "entries")
        ]

    def _array(self, schema: dict[str, Any], value: list[Any], path: Path) -> list[Problem]:
        found = [
            Problem("value", path, words) for words in _counted(schema, value, "Items", "items")
        ]
        first = _schemas(schema.get("prefixItems"))
        rest = schema.get("items", True)
        for at, each in enumerate(value):
            if self._left < 0 or len(found) >= MOST:
                break
            inner = first[at] if at < len(first) else rest
            if inner is not True:
                found += self.visit(inner, each, (*path, at))
        return found

    def _kind(self, schema: Any) -> str:
        """What an argument has to be, by its schema."""
        schema = self._targets.get(id(schema), schema)
        if not isinstance(schema, dict):
            return "any value"
        types = schema.get("type")
        if isinstance(types, str | list) and types:
            return (
                short(types)
                if isinstance(types, str)
                else either([short(str(name)) for name in types])
            )
        if isinstance(schema.get("enum"), list):
            return _options(schema["enum"])
        return "see the tool's definition"


def instead(name: str, known: Iterable[str]) -> str:
    """What an argument that nobody knows was meant to be, or which there are."""
    near = nearest(name, known)
    if near is not None:
        return f"did you mean `{short(near)}`?"
    names = sorted(known)
    return f"it takes {listed(names)}" if names else "it takes none"


def _valued(schema: dict[str, Any], value: Any) -> list[str]:
    """What is wrong with a value by itself."""
    found = []
    if isinstance(schema.get("enum"), list) and not any(
        _same(value, each) for each in schema["enum"]
    ):
        found.append(f"has to be {_options(schema['enum'])}")
    if "const" in schema and not _same(value, schema["const"]):
        found.append(f"has to be {_options([schema['const']])}")
    if isinstance(value, str):
        found += _counted(schema, value, "Length", "characters")
        pattern = schema.get("pattern")
        if isinstance(pattern, str) and not matches(pattern, value):
            found.append(f"has to match the pattern `{short(pattern)}`")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        for word, says, wrong in _BOUNDS:
            limit = schema.get(word)
            if isinstance(limit, int | float) and wrong(value, limit):
                found.append(f"has to be {says} {limit:g}")
    return found


_BOUNDS: Final[tuple[tuple[str, str, Callable[[Any, Any], bool]], ...]] = (
    ("minimum", "at least", lambda value, limit: value < limit),
    ("maximum", "at most", lambda value, limit: value > limit),
    ("exclusiveMinimum", "more than", lambda value, limit: value <= limit),
    ("exclusiveMaximum", "less than", lambda value, limit: value >= limit),
    (
        "multipleOf",
        "a multiple of",
        lambda value, step: isinstance(value, int) and isinstance(step, int) and value % step != 0,
    ),
)


def _counted(schema: dict[str, Any], value: Any, what: str, words: str) -> list[str]:
    found = []
    low, high = schema.get(f"min{what}"), schema.get(f"max{what}")
    if isinstance(low, int | float) and len(value) < low:
        found.append(f"needs at least {low:g} {words}")
    if isinstance(high, int | float) and len(value) > high:
        found.append(f"may have at most {high:g} {words}")
    return found


def _options(values: list[Any]) -> str:
    """The values that a definition lists, as JSON."""
    if not values:
        return "nothing: its definition allows no value"
    shown = [
        each if isinstance(each, str) else msgspec.json.encode(each).decode()
        for each in values[:MOST_LISTED]
    ]
    more = " and others" if len(values) > len(shown) else ""
    return f"one of {listed(shown)}{more}" if len(shown) > 1 else f"`{short(shown[0])}`"


def _same(one: Any, other: Any) -> bool:
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _schemas(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _names(value: Any) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern is somewhere in a text, by the engine that decides; one that it cannot read
    is nowhere."""
    checker = _alone("pattern", pattern)
    return checker is not None and checker.fits(text)


def _is_format(name: str, value: Any) -> bool:
    checker = _alone("format", name)
    return checker is None or checker.fits(value, formats=True)


@lru_cache(256)
def _alone(keyword: str, text: str) -> SchemaChecker | None:
    """The checker of one keyword alone."""
    try:
        return SchemaChecker({keyword: text})
    except SchemaFault:
        return None

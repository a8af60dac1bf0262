"""The outline of a schema: where its references lead, and how much of it one value can be held
against.

References that fan out (`a` holds two of `b`, `b` two of `c`, …) unfold to far more than is written
down, and the engine follows them one by one, until one leads back to where it came from. So they
are followed here first, and counted; what unfolds to too much is refused before any value is held
against it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from stanchion.guards._jsonschema.words import short
from stanchion.kernel.tuples import NamedTuple
from stanchion.readings.word_lists import listed

MAX_DEPTH: Final = 64
"""How deep a schema may be nested."""
MAX_UNFOLDED: Final = 20_000
MAX_CIRCULAR: Final = 4_000
"""To how many parts a schema may unfold, and to how many one that refers to itself."""
SHARED: Final = 32
"""A schema that refers to itself is held against a value part by part for each of its parts, so
much faster each."""

MAPS: Final = listed("properties patternProperties $defs definitions dependentSchemas dependencies")
"""Keywords whose value has a schema under every name."""
STORED: Final = frozenset({"$defs", "definitions"})
"""Keywords whose schemas count only where they are referred to."""
DATA: Final = listed("enum const default examples")
"""Keywords whose value is data, whatever it looks like."""

SHIPPED: Final = ("https://json-schema.org/draft/", "http://json-schema.org/draft-")
"""How the schemas of schemas begin: the engine has them, and each is about so large."""
SHIPPED_SIZE: Final = 400


class SchemaFault(ValueError):
    """A schema cannot be used: why, and where in it."""

    def __init__(self, message: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.path = path


Part = tuple[int, list[int]]
"""How many schemas a part has in it, and the parts that those refer to, as often as they do."""


class Outline(NamedTuple):
    """How much work it is to hold one value against a schema, and where its references lead, by the
    identity of what refers."""

    weight: int
    targets: dict[int, Any]


def outline(schema: Any) -> Outline:
    """The outline of a schema; raises `SchemaFault` where it is too deep, unfolds to too much, or
    refers to anything outside itself."""
    index = _Index(schema)
    parts: dict[int, Part] = {}
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if id(node) not in parts:
            size, found = index.measure(node)
            parts[id(node)] = (size, [id(target) for target in found])
            waiting += found
    return Outline(_weight(parts, id(schema)), index.targets)


def children(node: Any, stored: bool = True) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """The schemas right inside a schema, each with its path."""
    if not isinstance(node, dict):
        return
    for word, value in node.items():
        if word in DATA or (word in STORED and not stored):
            continue
        if word in MAPS and isinstance(value, dict):
            yield from [
                ((word, name), each)
                for name, each in value.items()
                if isinstance(each, dict | bool)
            ]
        elif isinstance(value, list):
            yield from [
                ((word, at), each) for at, each in enumerate(value) if isinstance(each, dict | bool)
            ]
        elif isinstance(value, dict):
            yield (word,), value


class _Index:
    """What a schema's parts are called, so that references can be followed."""

    def __init__(self, root: Any) -> None:
        self.targets: dict[int, Any] = {}
        self._bases: dict[int, str] = {}
        self._resources: dict[str, Any] = {"": root}
        self._anchors: dict[tuple[str, str], Any] = {}
        self._dynamic: dict[str, list[Any]] = {}
        self._enter(root, "", ())

    def _enter(self, root: Any, base: str, path: tuple[str | int, ...]) -> None:
        waiting: list[tuple[Any, str, tuple[str | int, ...]]] = [(root, base, path)]
        while waiting:
            node, base, path = waiting.pop()
            if not isinstance(node, dict) or id(node) in self._bases:
                continue
            if len(path) > MAX_DEPTH:
                raise SchemaFault(
                    f"it is nested deeper than {MAX_DEPTH} levels: write it flatter",
                    path[:MAX_DEPTH],
                )
            base = self._named(node, base)
            self._bases[id(node)] = base
            waiting += [(each, base, path + step) for step, each in children(node)]

    def _named(self, node: dict[str, Any], base: str) -> str:
        own = node.get("$id")
        if isinstance(own, str) and own.startswith("#"):
            self._anchors[base, own[1:]] = node
        elif isinstance(own, str):
            base = _joined(base, own).partition("#")[0]
            self._resources[base] = node
        for word in ("$anchor", "$dynamicAnchor"):
            name = node.get(word)
            if isinstance(name, str):
                self._anchors[base, name] = node
        if isinstance(node.get("$dynamicAnchor"), str):
            self._dynamic.setdefault(node["$dynamicAnchor"], []).append(node)
        return base

    def measure(self, root: Any) -> tuple[int, list[Any]]:
        """How many schemas are in a schema, and those that they refer to, as often as they do."""
        size = 0
        found: list[Any] = []
        waiting = [root]
        while waiting:
            node = waiting.pop()
            size += 1
            if not isinstance(node, dict):
                continue
            base = self._bases.get(id(node), "")
            for word in ("$ref", "$dynamicRef", "$recursiveRef"):
                if not isinstance(node.get(word), str):
                    continue
                targets = self._led_to(node[word], base, word == "$dynamicRef")
                if word == "$ref" and targets:
                    self.targets[id(node)] = targets[0]
                size += 0 if targets else SHIPPED_SIZE
                found += targets
            waiting += [each for _, each in children(node, stored=False)]
        return size, found

    def _led_to(self, reference: str, base: str, dynamic: bool) -> list[Any]:
        """Where a reference leads: to one part, or (dynamic) to any of several; to none where the
        engine has it."""
        name, _, fragment = (
            base + reference if reference.startswith("#") else _joined(base, reference)
        ).partition("#")
        resource = self._resources.get(name)
        if resource is None:
            if name.startswith(SHIPPED):
                return []
            raise SchemaFault(
                f"it refers to `{short(reference)}`, which is not in the schema itself: put it in "
                f"there"
            )
        if not fragment:
            return [resource]
        if not fragment.startswith("/"):
            target = self._anchors.get((name, fragment))
            if target is None:
                raise SchemaFault(
                    f"it refers to `{short(reference)}`, and nothing in it has that name"
                )
            same = (
                self._dynamic.get(fragment, [])
                if dynamic and target.get("$dynamicAnchor") == fragment
                else []
            )
            return same if same else [target]
        return [self._pointed_to(resource, fragment, reference, name)]

    def _pointed_to(self, node: Any, pointer: str, reference: str, base: str) -> Any:
        from urllib.parse import unquote

        for step in pointer[1:].split("/"):
            name = unquote(step).replace("~1", "/").replace("~0", "~")
            base = self._bases.get(id(node), base)
            try:
                node = node[int(name)] if isinstance(node, list) else node[name]
            except (KeyError, IndexError, ValueError, TypeError):
                raise SchemaFault(
                    f"it refers to `{short(reference)}`, and nothing in it is there"
                ) from None
        self._enter(node, base, ())
        return node


def _joined(base: str, reference: str) -> str:
    from urllib.parse import urljoin

    return urljoin(base, reference)


def _weight(parts: dict[int, Part], root: int) -> int:
    """To how many schemas the root unfolds: every reference is followed until it leads back to
    where it came from."""
    total, most = parts[root][0], MAX_UNFOLDED
    trail = [(root, iter(parts[root][1]))]
    above = {root}
    while trail:
        name, left = trail[-1]
        to = next(left, None)
        if to is None:
            trail.pop()
            above.discard(name)
            continue
        if to in above:
            total += 1
            most = MAX_CIRCULAR
        else:
            total += parts[to][0]
            above.add(to)
            trail.append((to, iter(parts[to][1])))
        if total > most:
            raise SchemaFault(
                f"its references unfold to more than {most:,} parts: refer to less, or nest less"
            )
    return total if most == MAX_UNFOLDED else total + total * total // SHARED

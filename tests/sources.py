"""Sources as syntax trees, each parsed and walked once in a process, and files of YAML as data, for
the tests that read the house itself."""

import ast
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, TypeVar

import yaml

T = TypeVar("T", bound=ast.AST)
LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The parser that is written in C, where there is one: it takes a small part of the time."""


@cache
def tree_of(source: str) -> ast.Module:
    """The tree of a source; whoever asks only reads it."""
    return ast.parse(source)


@cache
def _sorted(tree: ast.Module) -> dict[type[ast.AST], list[ast.AST]]:
    """The nodes of a tree by their type, each kind in the order in which `ast.walk` comes to
    them."""
    found: dict[type[ast.AST], list[ast.AST]] = {}
    for node in ast.walk(tree):
        found.setdefault(type(node), []).append(node)
    return found


def nodes(tree: ast.Module, *kinds: type[T]) -> Iterator[T]:
    """The nodes of some types, one type after the other."""
    known: dict[type[Any], list[Any]] = _sorted(tree)
    for kind in kinds:
        yield from known.get(kind, ())


def data_of(text: str) -> Any:
    """The data of a text of YAML, as `yaml.safe_load` has it."""
    return LOADER(text).get_single_data()

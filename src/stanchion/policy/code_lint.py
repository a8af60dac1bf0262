"""Whether code that a policy names is there, without running any of it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec
from typing import Final

MOST_BYTES: Final = 2_000_000
"""How large a source is at most that is looked into."""


def missing(call: str) -> str:
    """What of `module:name` is not there, in words; empty where nothing is known to be missing.

    Importing would run the module, and a policy that is looked over may be anybody's. So modules
    are only searched for, as an import would, and their source is read.
    """
    module, _, name = call.partition(":")
    spec: ModuleSpec | None = None
    path: Sequence[str] | None = None
    parts = module.split(".")
    for at in range(len(parts)):
        whole = ".".join(parts[: at + 1])
        spec = _spec(whole, path)
        if spec is None:
            return f"there is no module `{whole}`"
        path = spec.submodule_search_locations
        if path is None and at + 1 < len(parts):
            return f"`{whole}` is no package, so it has no `{parts[at + 1]}`"
    first = name.partition(".")[0]
    names = None if spec is None else _names(spec)
    return (
        f"the module `{module}` has no `{first}`"
        if names is not None and first not in names
        else ""
    )


def _spec(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """What an import would load, found as an import finds it."""
    for finder in sys.meta_path:
        found = finder.find_spec(name, path)
        if found is not None:
            return found
    return None


def _names(spec: ModuleSpec) -> set[str] | None:
    """The names that a module defines at its top; `None` where that cannot be told from its
    source."""
    if spec.origin is None or not spec.origin.endswith(".py"):
        return None
    try:
        with open(spec.origin, "rb") as file:
            source = file.read(MOST_BYTES + 1)
        tree = ast.parse(source) if len(source) <= MOST_BYTES else None
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if tree is None:
        return None
    found = set(_bound(tree.body))
    return None if found & {"*", "__getattr__", "globals"} else found


def _bound(body: Sequence[ast.AST]) -> Iterator[str]:
    """Every name that statements bind in their own scope; what a function or a class does inside is
    its own."""
    waiting = list(body)
    while waiting:
        match waiting.pop():
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() as defined:
                yield defined.name
            case ast.alias() as alias:
                yield alias.asname if alias.asname is not None else alias.name.partition(".")[0]
            case ast.Name() as used:
                if isinstance(used.ctx, ast.Store) or used.id == "globals":
                    yield used.id
            case ast.Lambda():
                pass
            case other:
                waiting += ast.iter_child_nodes(other)

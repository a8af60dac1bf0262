"""Tests on texts whose types were not known at load; null passes none of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stanchion.policy.conditions import paths
from stanchion.policy.conditions.arithmetic import no_overload
from stanchion.policy.conditions.globs import found_test


def _texts(name: str, a: Any, b: Any) -> bool:
    """Whether both are texts; false where one is null."""
    if type(a) is str and type(b) is str:
        return True
    if (a is None or type(a) is str) and (b is None or type(b) is str):
        return False
    raise no_overload(f"`{name}`", a, b)


def starts(text: Any, prefix: Any) -> bool:
    """Whether a text begins so."""
    return _texts("startsWith", text, prefix) and text.startswith(prefix)


def ends(text: Any, suffix: Any) -> bool:
    """Whether a text ends so."""
    return _texts("endsWith", text, suffix) and text.endswith(suffix)


def contains(text: Any, part: Any) -> bool:
    """Whether a text has that in it."""
    return _texts("contains", text, part) and part in text


def under(path: Any, folder: Any) -> bool:
    """Whether a path is the folder or lies in it."""
    return _texts("under", path, folder) and paths.under(path, folder)


def glob(text: Any, pattern: Any) -> bool:
    """Whether a text matches a glob that was not known at load."""
    return _texts("glob", text, pattern) and found_test(pattern)(text)


def passes(text: Any, test: Callable[[str], bool]) -> bool:
    """Whether a text passes a test that was compiled at load."""
    if type(text) is str:
        return test(text)
    if text is None:
        return False
    raise no_overload("a pattern", text)

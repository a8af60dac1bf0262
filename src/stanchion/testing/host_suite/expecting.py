"""What a behaviour expects, said so that whoever reads the failure knows what was there."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any


def same(found: Any, expected: Any) -> None:
    """Raise `AssertionError` where something else was found."""
    assert found == expected, f"expected {expected!r}, found {found!r}"


def holds(wanted: Any, found: Collection[Any]) -> None:
    """Raise `AssertionError` where something is not among what was found; a text may be part of a
    longer one."""
    among = wanted in "\n".join(found) if isinstance(wanted, str) else wanted in found
    assert among, f"expected {wanted!r} among {found!r}"

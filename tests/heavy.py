"""The few tests that take most of the time: a gate plays a part of each, a soak all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import settings

from tests.sampling import some

FILE: Final = Path(__file__).with_name("heavy.txt")
LEFT_OUT: Final = "soak"
"""What stands in the list where the gate plays nothing of a test."""


def read(text: str) -> dict[str, int]:
    """How many times fewer cases of each test the gate plays; 0 where it plays none."""
    rows = [line.split(None, 1) for line in text.splitlines() if line and line[0] != "#"]
    return {test: 0 if share == LEFT_OUT else int(share) for share, test in rows}


def divide(items: Sequence[pytest.Item], heavy: dict[str, int]) -> tuple[list[Any], list[Any]]:
    """Items for the gate, and those that are left to a soak. Of whatever is not left out whole the
    gate plays one case at least, and draws one example at least."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        test = item.nodeid.partition("[")[0]
        if test in heavy:
            cases.setdefault(test, []).append(item)
    played: set[pytest.Item] = set()
    for test, found in cases.items():
        share = heavy[test]
        if share:
            played.update(some(found, share, test, whole=False))
            _draw_fewer(found, share)
    heavy_items = {item for found in cases.values() for item in found}
    kept = [item for item in items if item not in heavy_items or item in played]
    return kept, [item for item in items if item in heavy_items and item not in played]


def _draw_fewer(items: Iterable[Any], share: int) -> None:
    """Let drawn tests draw so many times fewer examples; a machine of states has its settings on
    its class, a function on itself."""
    for holder in {id(each): each for each in map(_holder, items) if each is not None}.values():
        name = "settings" if isinstance(holder, type) else "_hypothesis_internal_use_settings"
        usual: settings = getattr(holder, name)
        setattr(holder, name, settings(usual, max_examples=max(1, usual.max_examples // share)))


def _holder(item: Any) -> Any:
    if item.cls is not None and isinstance(getattr(item.cls, "settings", None), settings):
        return item.cls
    drawn = getattr(item.obj, "__func__", item.obj)
    return drawn if hasattr(drawn, "_hypothesis_internal_use_settings") else None

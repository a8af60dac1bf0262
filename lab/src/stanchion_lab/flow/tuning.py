"""What of a guard can be tuned: thresholds with a grid each, and rules that can be switched off one
by one."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol, get_type_hints

import msgspec

from stanchion_lab.measuring.rows import NoRows

Grid = dict[str, tuple[float, ...]]
"""The values that each threshold may have."""


class Tuned(Protocol):
    """A guard whose thresholds can be replaced, and whose rules can be left out."""

    def with_thresholds(self, thresholds: Any) -> Any:
        """The same guard with other thresholds."""

    def without(self, rule: str) -> Any:
        """The same guard without a rule."""


class Tunable(msgspec.Struct, frozen=True):
    """A guard, its thresholds as they are, and the names of its rules; without thresholds or rules
    it has none."""

    guard: Any
    thresholds: Any = None
    rules: tuple[str, ...] = ()


def flow_guard(setting: str | None) -> Tunable:
    """The guard `flow` in a setting, with what it lets others tune."""
    module = import_module("stanchion.guards.flow")
    try:
        guard = module.Flow() if setting is None else module.Flow(setting=setting)
    except TypeError:
        raise NoRows(f"the guard `flow` has no setting `{setting}`") from None
    made = getattr(module, "Thresholds", None)
    return Tunable(guard, None if made is None else made(), tuple(getattr(module, "RULES", ())))


def grid_of(thresholds: Any) -> Grid:
    """The grid that each field of a struct of thresholds declares: `Annotated[float,
    Meta(extra={"grid": (…)})]`. A field without one is left as it is."""
    if thresholds is None:
        raise NoRows("the guard `flow` has no thresholds: there is nothing to fit")
    grid: Grid = {}
    for name, hint in get_type_hints(type(thresholds), include_extras=True).items():
        for meta in getattr(hint, "__metadata__", ()):
            values = (meta.extra or {}).get("grid") if isinstance(meta, msgspec.Meta) else None
            if values:
                grid[name] = tuple(values)
    if not grid:
        raise NoRows(
            f"no field of `{type(thresholds).__name__}` declares a grid: there is nothing to fit"
        )
    return grid

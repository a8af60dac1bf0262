"""Choosing entities: those a policy names, or the usual ones."""

from __future__ import annotations

from difflib import get_close_matches

from stanchion.guards.pii.entities import ENTITIES
from stanchion.guards.pii.entity import Entity
from stanchion.kernel.names import glob, is_glob


def chosen(patterns: tuple[str, ...] | None, without: tuple[str, ...] = ()) -> tuple[Entity, ...]:
    """The entities that names and globs choose, or the usual ones, less others, in the order of
    their list; raises `ValueError` for what fits none."""
    usual = {entity.kind for entity in ENTITIES.values() if entity.usual}
    kinds = (usual if patterns is None else _fitting(patterns)) - _fitting(without)
    if not kinds:
        raise ValueError("no entity is left to look for: name some in `entities`, or leave it out")
    return tuple([entity for kind, entity in ENTITIES.items() if kind in kinds])


def _fitting(patterns: tuple[str, ...]) -> set[str]:
    kinds: set[str] = set()
    for pattern in patterns:
        fits = {
            kind
            for kind in ENTITIES
            if (glob(pattern, kind) if is_glob(pattern) else pattern == kind)
        }
        if not fits:
            near = get_close_matches(pattern, ENTITIES, 1, 0.4)
            hint = f"did you mean `{near[0]}`?" if near else "see the list on the guard's page"
            raise ValueError(f"`{pattern}` is not an entity: {hint}")
        kinds |= fits
    return kinds

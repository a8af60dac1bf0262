"""Suspect definitions: those that are read with strong remarks, until an operator has accepted them
as they are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import Final

import msgspec

from stanchion.guards.files.protected import shipped
from stanchion.guards.schema.tools import ToolDefinition
from stanchion.readings.definitions.reader import remarks_on
from stanchion.readings.definitions.texts import DefinitionRemark, strongest
from stanchion.readings.paths.place import place_of
from stanchion.runtime.calling.pins import Parts, Pins, Suspect

KEPT: Final = 3
"""How many remarks on one definition are kept."""
MOST: Final = 200
"""Of how many definitions the sentences are kept; of the others only what kind they are."""


def suspects_in(
    found: Iterable[ToolDefinition],
    parts: Mapping[str, Parts],
    kept: Pins,
    others: Collection[str],
    pins: Mapping[str, str],
) -> Pins:
    """The pins, with those of these definitions as suspects that are, and that nobody has accepted
    as they are. `pins` says what each is pinned as."""
    ours = set(pins.values())
    suspects = {pin: own for pin, own in kept.suspects.items() if pin not in ours}
    names = {*others, *parts, *[pin.rpartition("/")[2] for pin in kept.tools if pin not in ours]}
    for each in found:
        own = parts.get(each.name)
        remarks = (
            () if own is None or kept.accepted.get(pins[each.name]) == own else _strong(each, names)
        )
        if own is not None and remarks:
            short = remarks if len(suspects) < MOST else tuple([_wordless(one) for one in remarks])
            suspects[pins[each.name]] = Suspect(own, short)
    return msgspec.structs.replace(kept, suspects=suspects)


def _strong(definition: ToolDefinition, names: Collection[str]) -> tuple[DefinitionRemark, ...]:
    said = (definition.name, definition.about, definition.schema, definition.result_schema)
    others = frozenset(names) - {definition.name}
    return strongest(remarks_on(*said, others, _protects, definition.aside))[:KEPT]


def _wordless(remark: DefinitionRemark) -> DefinitionRemark:
    return DefinitionRemark(remark.kind, "definition", "", remark.weight)


@lru_cache(maxsize=4_096)
def _protects(path: str) -> bool:
    """Whether a path is that of something which the `files` guard keeps agents from reading."""
    return shipped().find(place_of(path, lenient=True).folded, "read") is not None

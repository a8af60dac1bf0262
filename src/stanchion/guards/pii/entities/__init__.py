"""All entities: what personal data looks like, by country."""

from __future__ import annotations

from typing import Final

from stanchion.guards.pii.entities import (
    africa,
    americas,
    asia,
    australia,
    banking,
    cards,
    contact,
    crypto,
    dates,
    germany,
    india,
    network,
    northern_europe,
    people,
    phones,
    places,
    southern_europe,
    united_kingdom,
    united_states,
    western_europe,
)
from stanchion.guards.pii.entity import PersonalEntity

FAMILIES: Final = (
    cards, banking, crypto, united_states, united_kingdom, germany, southern_europe,
    northern_europe, western_europe, americas, australia, asia, india, africa, contact, network,
    dates, phones, places, people,
)  # fmt: skip

ENTITIES: Final[dict[str, PersonalEntity]] = {
    entity.kind: entity for family in FAMILIES for entity in family.ENTITIES
}
"""Every entity by its kind; where two fit the same characters, the first is named."""

"""South Africa and Nigeria."""

from __future__ import annotations

from typing import Final

from stanchion.guards.pii.entity import PersonalEntity, date, luhn

ENTITIES: Final = (
    PersonalEntity(
        "za-id",
        "South African identity number",
        told=("9" * 13, "999999 9999 999"),
        check=lambda number: (
            date(0, int(number[2:4]), int(number[4:6])) and number[10] in "012" and luhn(number)
        ),
        words="south african|za id|rsa id|sa id|identity number|id number|resident "
        "number|refugee|permanent resident|"
        "identiteitsnommer",
    ),
    PersonalEntity(
        "ng-vehicle-registration",
        "Nigerian number plate",
        shapes=("AAA-999AA", "AAA-999 AA"),
        usual=False,
    ),
)

HITS: Final = (
    ("My South African ID is 9202201234088.", "za-id"),
    ("Plates: APP-456CV and", "ng-vehicle-registration"),
)
MISSES: Final = ("9202201234088", "SA ID 8001015009086", "SA ID 80010150090870", "ABC-12CD")

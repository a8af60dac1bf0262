"""Postal codes: numbers that a word nearby says are one."""

from __future__ import annotations

from typing import Final

from stanchion.guards.pii.entity import PersonalEntity

ENTITIES: Final = (
    PersonalEntity(
        "postal-code",
        "postal code",
        told=(
            "999", "9999", "99999", "999999", "99999-9999", "999 99", "99-999", "9999-999",
            "99999-999", "9999 AA", "9999AA", "A9A 9A9", "999-9999",
        ),
        words=("zip|zip code|zipcode|postal code|postcode|post code|postal|código postal|code "
              "postal|cap|cep"),
        usual=False,
    ),
)  # fmt: skip

HITS: Final = (
    ("zip code 94105-1234", "postal-code"),
    ("my zip code is 880", "postal-code"),
    ("postal code: K1A 0B1", "postal-code"),
)
MISSES: Final = ("94105", "zip 1234567", "zip file 12MB")

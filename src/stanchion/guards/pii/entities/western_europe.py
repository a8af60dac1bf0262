"""France, the Netherlands, Belgium and Switzerland."""

from __future__ import annotations

from typing import Final

from stanchion.guards.pii.entity import PersonalEntity, adds_up, date
from stanchion.kernel.regex import regex

FRENCH: Final = regex(r"[12]\d\d(?:0[1-9]|1[0-2]|[2-9]\d)(?:\d\d|2[AB])\d{8}")


def _french(text: str) -> bool:
    if FRENCH.fullmatch(text) is None:
        return False
    number = int(text[:13].replace("2A", "19", 1).replace("2B", "18", 1))
    return 97 - number % 97 == int(text[13:])


def _belgian(number: str) -> bool:
    month, day = int(number[2:4]), int(number[4:6])
    check = int(number[9:])
    born = month == 0 or date(0, month % 20, day)
    return born and check in (97 - int(number[:9]) % 97, 97 - int("2" + number[:9]) % 97)


SWISS: Final = adds_up((1, 3) * 7, 10)


ENTITIES: Final = (
    PersonalEntity(
        "fr-nir",
        "French social security number",
        shapes=("9" * 15, "9 99 99 99 999 999 99", "9 99 99 9A 999 999 99", "9999999999999 99"),
        check=_french,
    ),
    PersonalEntity(
        "nl-bsn",
        "Dutch number of a citizen",
        told=("999999999", "9999.99.999", "9999 99 999"),
        check=adds_up((9, 8, 7, 6, 5, 4, 3, 2, -1), 11),
        words="bsn|burgerservicenummer|sofinummer|sofi|burger service nummer",
    ),
    PersonalEntity(
        "be-national-number",
        "Belgian national number",
        shapes=("99.99.99-999.99",),
        told=("9" * 11,),
        check=_belgian,
        words=(
            "rijksregisternummer|rijksregister|registre national|numéro national|national "
            "number|niss|insz"
        ),
    ),
    PersonalEntity(
        "ch-ahv",
        "Swiss social security number",
        shapes=("999.9999.9999.99", "9" * 13),
        check=lambda number: number[:3] == "756" and SWISS(number),
    ),
)

HITS: Final = (
    ("NIR 1 85 05 78 006 084 91", "fr-nir"),
    ("BSN 111222333", "nl-bsn"),
    ("85.07.30-033.28", "be-national-number"),
    ("AHV 756.9217.0769.85", "ch-ahv"),
)
MISSES: Final = (
    "1 85 05 78 006 084 90",
    "111222333",
    "BSN 111222334",
    "85.07.30-033.29",
    "756.9217.0769.86",
)

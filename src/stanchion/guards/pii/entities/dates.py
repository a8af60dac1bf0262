"""Dates of birth: dates that a word nearby says somebody was born on."""

from __future__ import annotations

from typing import Final

from stanchion.guards.pii.entity import PersonalEntity, date
from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import in_order

MONTHS: Final = in_order("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC")
NAMES: Final = frozenset(
    "january february march april may june july august september october november december jan feb "
    "mar apr jun jul aug sep sept oct nov dec".upper().split()
)
WORDS: Final = tuple(["A" * length for length in range(3, 10)])
PARTS: Final = regex(
    r"(\d+)(?:ST|ND|RD|TH)?([A-Z]+)(\d{4})|([A-Z]+?)(\d{1,2})(?:ST|ND|RD|TH)?(\d{4})"
)


def _born(text: str) -> bool:
    if not text.isdecimal():
        found = PARTS.fullmatch(text)
        if found is None:
            return False
        month, day, year = (
            (found[2], found[1], found[3]) if found[2] else (found[4], found[5], found[6])
        )
        return (
            month in NAMES
            and date(int(year), MONTHS.index(month[:3]) + 1, int(day))
            and int(year) > 1900
        )
    if (
        len(text) == 8
        and text[:2] in ("19", "20")
        and date(int(text[:4]), int(text[4:6]), int(text[6:]))
    ):
        return True
    year = text[-4:] if len(text) > 6 and text[-4:-2] in ("19", "20") else text[-2:]
    rest = text[: -len(year)]
    return any(_day(rest[:at], rest[at:]) for at in range(1, len(rest)))


def _day(one: str, other: str) -> bool:
    return max(len(one), len(other)) <= 2 and (
        date(0, int(one), int(other)) or date(0, int(other), int(one))
    )


ENTITIES: Final = (
    PersonalEntity(
        "date-of-birth",
        "date somebody was born on",
        told=(
            "9999-99-99", "9999/99/99", "9999.99.99", "99999999",
            *[f"{day}{sep}{month}{sep}{year}" for sep in "/-." for day in ("9", "99") for month in ("9", "99")  # noqa: E501
              for year in ("99", "9999")],
            *[f"{day} {word} 9999" for word in WORDS for day in ("9", "99", "9AA", "99AA")],
            *[f"{word} {day} 9999" for word in WORDS for day in ("9", "99", "9,", "99,", "9AA,", "99AA,")],  # noqa: E501
        ),
        check=_born,
        summed=False,
        words="date of birth|dob|d o b|born|born on|birth date|birthdate|birthday|birth "
              "day|geburtsdatum|geboren|geb|"
        "né le|née le|date de naissance|fecha de nacimiento|nacimiento|data di nascita|nato "
        "il|nata il|"
        "data de nascimento|geboortedatum|födelsedatum|syntymäaika|생년월일|生年月日|出生日期",
        usual=False,
    ),
)  # fmt: skip

HITS: Final = (
    ("DOB: 03/12/1984", "date-of-birth"),
    ("she was born on 12 March 1984 in Oslo", "date-of-birth"),
    ("date of birth: March 12, 1984", "date-of-birth"),
    ("Geburtsdatum 12.03.1984", "date-of-birth"),
    ("date_of_birth=1984-03-12", "date-of-birth"),
)
MISSES: Final = (
    "due 03/12/1984",
    "DOB: 45/45/1984",
    "born in 1984",
    "born to run 12 miles 1984",
    "DOB unknown",
)

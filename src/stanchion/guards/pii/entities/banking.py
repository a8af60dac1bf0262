"""Bank accounts: the international number with its check digits, and what the United States use."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters
from typing import Final

from stanchion.guards.pii.entity import PersonalEntity, adds_up, mod97, varied

LENGTHS: Final = {
    country: int(length)
    for length, countries in {
        "15": "NO", "16": "BE", "18": "DK FK FI FO GL NL SD", "19": "MK SI",
        "20": "AT BA EE KZ LT LU MN XK", "21": "HR LI LV CH", "22": "BH BG CR GE DE GB IE ME RS",
        "23": "AE GI IL IQ OM SO TL", "24": "AD CZ ES MD PK RO SA SE SK TN VA", "25": "LY PT ST",
        "26": "IS TR", "27": "BI DJ FR GR IT MC MR SM", "28": "AL AZ BY CY DO GT HU LB NI PL SV",
        "29": "BR EG PS QA UA", "30": "JO KW MU YE", "31": "MT SC", "32": "LC", "33": "RU",
    }.items()
    for country in countries.split()
}  # fmt: skip
"""How long an account number is, by country."""


def _iban(raw: str, _told: bool) -> Sequence[int]:
    wanted = LENGTHS.get(raw[:2].upper())
    if wanted is None:
        return ()
    kept: list[str] = []
    for at, char in enumerate(raw):
        if char.isalnum():
            kept.append(char)
            if len(kept) == wanted:
                return (at + 1,) if mod97("".join(kept)) and varied("".join(kept[4:])) else ()
    return ()


ADDS_UP: Final = adds_up((3, 7, 1) * 3, 10)


def _routing(number: str) -> bool:
    area = int(number[:2])
    known = area <= 12 or 21 <= area <= 32 or 61 <= area <= 72 or area == 80
    return known and ADDS_UP(number)


ENTITIES: Final = (
    PersonalEntity(
        "iban",
        "international bank account number",
        sieve=r"\b[A-Za-z]{2}[0-9]{2}[ -]?[0-9A-Za-z]{4}",
        pattern=r"[A-Za-z]{2}[0-9]{2}(?:[ -]?[0-9A-Za-z]){11,30}",
        heads=ascii_letters,
        reads=_iban,
        opens=r"[A-Za-z]{2}[0-9]{2}(?:[ -]?[0-9A-Za-z])*[ -]?",
    ),
    PersonalEntity(
        "us-aba-routing",
        "routing number of a US bank",
        told=("999999999", "9999-9999-9"),
        check=_routing,
        words="routing|aba|rtn|bank|wire|ach|transit",
    ),
    PersonalEntity(
        "us-bank-account",
        "account at a US bank",
        told=tuple(["9" * length for length in range(8, 18)]),
        check=varied,
        summed=False,
        words=(
            "account number|account no|acct|bank account|checking account|savings "
            "account|account nr"
        ),
        usual=False,
    ),
)

HITS: Final = (
    ("to GB82 WEST 1234 5698 7654 32 today", "iban"),
    ("DE89370400440532013000", "iban"),
    ("iban gb42nawi04454264788619", "iban"),
    ("FR14-2004-1010-0505-0001-3M02-606", "iban"),
    ("routing no. 121042882", "us-aba-routing"),
    ("bank account: 12345678901", "us-bank-account"),
)
MISSES: Final = (
    "GB82 WEST 1234 5698 7654 33",
    "GB82WEST12345698765432X",
    "XX82 WEST 1234 5698 7654 32",
    "121042882",
    "routing no. 121042883",
    "account of 12345678901 people",
)

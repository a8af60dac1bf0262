"""The United States: numbers of people, and of those who treat them."""

from __future__ import annotations

from typing import Final

from stanchion.guards.pii.entity import PersonalEntity, adds_up, luhn, varied
from stanchion.kernel.regex import regex

MBI: Final = regex(
    r"[1-9][AC-HJKMNP-RT-Y][0-9AC-HJKMNP-RT-Y]\d[AC-HJKMNP-RT-Y][0-9AC-HJKMNP-RT-Y]\d[AC-HJKMNP-RT-"
    r"Y]{2}\d\d"
)
COUNTED: Final = ("123456789", "987654321", "012345678")


def _ssn(number: str) -> bool:
    area, group, serial = number[:3], number[3:5], number[5:]
    issued = area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"
    return issued and varied(number) and number not in COUNTED


def _itin(number: str) -> bool:
    group = int(number[3:5])
    return number[0] == "9" and (
        50 <= group <= 65 or 70 <= group <= 88 or 90 <= group <= 92 or 94 <= group <= 99
    )


def _npi(number: str) -> bool:
    return number[0] in "12" and luhn("80840" + number) and varied(number[:-1])


ADDS_UP: Final = adds_up((1, 2, 1, 2, 1, 2, -1), 10)


ENTITIES: Final = (
    PersonalEntity(
        "us-ssn",
        "US social security number",
        shapes=("999-99-9999",),
        told=("999999999", "999 99 9999", "999.99.9999", "999-999999", "99999-9999"),
        check=_ssn,
        summed=False,
        words="ssn|social security|social|soc sec|ss no|sss|us ssn",
    ),
    PersonalEntity(
        "us-itin",
        "US taxpayer number of a person without social security",
        shapes=("999-99-9999",),
        told=("999999999", "999 99 9999", "999-999999", "99999-9999"),
        check=_itin,
        summed=False,
        words="itin|taxpayer|tax id|taxpayer identification|tin|individual taxpayer",
    ),
    PersonalEntity(
        "us-passport",
        "US passport",
        told=("999999999", "A99999999"),
        check=varied,
        summed=False,
        words="passport|us passport|travel document",
    ),
    PersonalEntity(
        "us-driver-license",
        "US driver license",
        told=(
            "A9999999", "A99999999", "A999999999", "A9999999999", "A99999999999", "A999999999999",
            "AA999999", "AA9999999", "9999999", "99999999", "999999999", "9999999999",
            "A999-9999-9999", "A999-999-99-999-9",
        ),
        check=varied,
        summed=False,
        words="driver license|drivers license|driver s license|driver licence|driving "
              "license|driver lic|dl|"
        "license number|licence number|drivers lic|dln|us driver license",
    ),
    PersonalEntity(
        "us-mbi",
        "US Medicare beneficiary",
        shapes=("9A*9-A*9-AA99", "9A*9A*9AA99"),
        check=lambda text: MBI.fullmatch(text) is not None,
    ),
    PersonalEntity(
        "us-npi",
        "US health care provider",
        told=("9999999999",),
        check=_npi,
        words="npi|national provider|provider id|provider number|provider identifier",
    ),
    PersonalEntity(
        "us-dea",
        "US licence to prescribe",
        told=("AA9999999", "A99999999"),
        check=lambda text: text[0] in "ABCDEFGHJKLMPRSTUX" and ADDS_UP(text[2:]),
        words=("dea|medical license|medical licence|prescriber|certificate number|dea "
              "number|registration number"),
    ),
)  # fmt: skip

HITS: Final = (
    ("078-05-1123", "us-ssn"),
    ("my social security number is 536904399", "us-ssn"),
    ("911-70-1234", "us-itin"),
    ("Passport no: 912803456", "us-passport"),
    ("driver's license H12234567", "us-driver-license"),
    ("Medicare ID: 3CD5-FG7-HJ89", "us-mbi"),
    ("The MBI is 4EF6GH8JK12 for", "us-mbi"),
    ("NPI 1234567893", "us-npi"),
    ("DEA GL0285191", "us-dea"),
)
MISSES: Final = (
    "000-05-1123",
    "666-05-1123",
    "078-05-0000",
    "536904399",
    "ssn 0780511201",
    "911-66-1234",
    "1234567893",
    "1EG4-TE5-OK73",
    "serial 078-05-1123-9",
    "GL0285191",
)

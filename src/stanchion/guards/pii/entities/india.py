"""India."""

from __future__ import annotations

from typing import Final

from stanchion.guards.pii.entity import PersonalEntity, varied, verhoeff
from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import listed

PASSPORT: Final = regex(r"[A-PR-WY][1-9]\d{5}[1-9]")
GST: Final = regex(r"(?:0[1-9]|[12]\d|3[0-8]|97|99)[A-Z]{5}\d{4}[A-Z][1-9A-Z]Z[0-9A-Z]")
STATES: Final = listed(
    "AN AP AR AS BH BR CG CH DD DL DN GA GJ HP HR JH JK KA KL LA LD MH ML MN MP MZ NL OD OR "
    "PB PY RJ SK TG TN TR TS UA UK UP WB"
)  # fmt: skip

ENTITIES: Final = (
    PersonalEntity(
        "in-aadhaar",
        "Indian number of a resident",
        shapes=("9999 9999 9999", "9999-9999-9999"),
        told=("9" * 12,),
        check=lambda number: number[0] > "1" and verhoeff(number) and number != number[::-1],
        words="aadhaar|aadhar|uidai|uid|in aadhaar|आधार",
    ),
    PersonalEntity(
        "in-pan",
        "Indian tax number",
        shapes=("AAAAA9999A",),
        check=lambda text: text[3] in "ABCFGHJLNPT",
    ),
    PersonalEntity(
        "in-passport",
        "Indian passport",
        told=("A9999999", "A99 99999"),
        check=lambda text: PASSPORT.fullmatch(text) is not None,
        summed=False,
        words="passport|indian passport|in passport",
    ),
    PersonalEntity(
        "in-voter",
        "Indian voter card",
        told=("AAA9999999",),
        check=lambda text: varied(text[3:]),
        summed=False,
        words="voter|epic|election card|elector|in voter|voter id",
    ),
    PersonalEntity(
        "in-gst",
        "Indian tax number of a business",
        shapes=("99AAAAA9999A*A*",),
        check=lambda text: GST.fullmatch(text) is not None,
        usual=False,
    ),
    PersonalEntity(
        "in-vehicle-registration",
        "Indian number plate",
        told=(
            "AA99AA9999",
            "AA99A9999",
            "AA 99 AA 9999",
            "AA-99-AA-9999",
            "AA9A9999",
            "AA9AA9999",
            "AA9AAA9999",
        ),
        check=lambda text: text[:2] in STATES,
        summed=False,
        words="vehicle|registration|number plate|plate|car|rto|in vehicle",
        usual=False,
    ),
)

HITS: Final = (
    ("3123 4567 8909", "in-aadhaar"),
    ("aadhaar 399876543211", "in-aadhaar"),
    ("PAN ABCPD1234Z", "in-pan"),
    ("passport number is T3569075", "in-passport"),
    ("voter id uzb2345117", "in-voter"),
    ("GST registration: 07PQRST6789K1Z2", "in-gst"),
    ("vehicle KA01AB1234", "in-vehicle-registration"),
)
MISSES: Final = (
    "1234 5678 9012",
    "1234:5678:9012",
    "ABCXD1234Z",
    "passport number is T356907",
    "uzb2345117",
    "voter A8923571WZ",
    "40PQRST6789K1Z2",
    "KA01AB1234",
)

"""The United Kingdom: health, insurance, travel and driving."""

from __future__ import annotations

from typing import Final

from stanchion.guards.pii.entity import PersonalEntity, adds_up, varied
from stanchion.kernel.regex import regex
from stanchion.readings.word_lists import in_order

NINO: Final = regex(r"(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]")
DRIVER: Final = regex(
    r"[A-Z9]{5}\d(?:0[1-9]|1[0-2]|5[1-9]|6[0-2])(?:0[1-9]|[12]\d|3[01])\d[A-Z9]{2}[0-9A-Z][A-Z]{2}"
)
POSTCODE: Final = regex(
    r"(?:GIR0AA|(?:[A-PR-UWYZ][0-9][0-9A-HJKPSTUW]?|[A-PR-UWYZ][A-HK-Y][0-9][0-9ABEHMNPRVWXY]?)"
    r"[0-9][ABD-HJLNP-UW-Z]{2})"
)
PLATE: Final = regex(
    r"[A-HJ-PR-Y][A-HJ-PR-Y]\d\d[A-HJ-PR-Z]{3}|[A-HJ-NPR-TV-Y]\d{1,3}[A-HJ-PR-Y]{3}"
    r"|[A-HJ-PR-Y]{3}\d{1,3}[A-HJ-NPR-TV-Y]"
)
OUTER: Final = in_order("A9 A99 AA9 AA99 A9A AA9A")


ENTITIES: Final = (
    PersonalEntity(
        "uk-nhs",
        "UK number of a patient",
        told=("9999999999", "999 999 9999", "999-999-9999"),
        check=adds_up(range(10, 0, -1), 11),
        words="nhs|national health|nhs number|patient number",
    ),
    PersonalEntity(
        "uk-nino",
        "UK national insurance number",
        shapes=("AA999999A", "AA 99 99 99 A", "AA 999999 A", "AA-99-99-99-A", "AA99 9999A"),
        check=lambda text: NINO.fullmatch(text) is not None,
    ),
    PersonalEntity("uk-passport", "UK passport", told=("999999999", "AA9999999"), check=varied, summed=False,  # noqa: E501
        words="passport|uk passport"),
    PersonalEntity(
        "uk-driving-licence",
        "UK driving licence",
        shapes=("*****999999**9AA", "*****999999***AA"),
        check=lambda text: DRIVER.fullmatch(text) is not None,
    ),
    PersonalEntity(
        "uk-postcode",
        "UK postal code",
        shapes=tuple([f"{outer} 9AA" for outer in OUTER]),
        told=tuple([f"{outer}9AA" for outer in OUTER]),
        check=lambda text: POSTCODE.fullmatch(text) is not None,
        summed=False,
        words="postcode|post code|postal code|uk postcode",
        usual=False,
    ),
    PersonalEntity(
        "uk-vehicle-registration",
        "UK number plate",
        told=(
            "AA99AAA", "AA99 AAA", "AA99-AAA",
            *[f"A{'9' * n}{sep}AAA" for n in (1, 2, 3) for sep in (" ", "")],
            *[f"AAA{sep}{'9' * n}A" for n in (1, 2, 3) for sep in (" ", "")],
        ),
        check=lambda text: PLATE.fullmatch(text) is not None,
        summed=False,
        words="vehicle|registration|number plate|plate|reg|car|vrm|vehicle registration",
        usual=False,
    ),
)  # fmt: skip

HITS: Final = (
    ("NHS number 943 476 5919", "uk-nhs"),
    ("NI: AB 12 34 56 C", "uk-nino"),
    ("tw987654a", "uk-nino"),
    ("uk passport 925665416", "uk-passport"),
    ("MORGA657054SM9IJ", "uk-driving-licence"),
    ("lives at EC1A 1BB", "uk-postcode"),
    ("car LN14-HGT", "uk-vehicle-registration"),
)
MISSES: Final = (
    "943 476 5919",
    "NHS number 943 476 5918",
    "BG123456A",
    "ab1234561",
    "MORGA693054SM9IJ",
    "M1 1CA",
    "LN14-HGT",
    "plate IB51 ABC",
)

"""Spain, Italy and Turkey."""

from __future__ import annotations

from typing import Final

from stanchion.guards.pii.entity import PersonalEntity, digits, luhn, varied
from stanchion.kernel.regex import regex

NIF: Final = "TRWAGMYFPDXBNJZSQVHLCKE"
ODD: Final = (
    1,
    0,
    5,
    7,
    9,
    13,
    15,
    17,
    19,
    21,
    2,
    4,
    18,
    20,
    11,
    3,
    6,
    8,
    12,
    14,
    16,
    10,
    22,
    25,
    24,
    23,
)
FISCAL: Final = regex(r"[A-Z]{6}[0-9LMNP-V]{2}[A-EHLMPRST][0-9LMNP-V]{2}[A-Z][0-9LMNP-V]{3}[A-Z]")
DRIVER: Final = regex(r"U1[BCDFGHLJKMNPRSTUWYXZ0-9]{7}[A-Z]|[A-Z]{2}\d{7}[A-Z]")
PLATE: Final = regex(r"(?:0[1-9]|[1-7]\d|8[01])(?:[A-Z]\d{3,5}|[A-Z]{2}\d{3,4}|[A-Z]{3}\d{2,4})")


def _nif(text: str) -> bool:
    return NIF[int(text[:8]) % 23] == text[8]


def _nie(text: str) -> bool:
    return text[0] in "XYZ" and NIF[int(str("XYZ".index(text[0])) + text[1:8]) % 23] == text[8]


def _fiscal(text: str) -> bool:
    if FISCAL.fullmatch(text) is None:
        return False
    values = [ord(char) - (65 if char.isalpha() else 48) for char in text[:15]]
    total = sum([ODD[value] if at % 2 == 0 else value for at, value in enumerate(values)])
    return total % 26 == ord(text[15]) - 65


def _turk(number: str) -> bool:
    given = digits(number)
    tenth = (7 * sum(given[0:9:2]) - sum(given[1:8:2])) % 10
    return (
        given[0] != 0
        and given[9] == tenth
        and given[10] == sum(given[:10]) % 10
        and varied(number[:9])
    )


ENTITIES: Final = (
    PersonalEntity(
        "es-nif",
        "Spanish number of a citizen",
        shapes=("99999999A", "99999999-A", "99.999.999-A", "99999999 A"),
        check=_nif,
    ),
    PersonalEntity("es-nie", "Spanish number of a foreigner", shapes=("A9999999A", "A-9999999-A", "A-9999999A"), check=_nie),  # noqa: E501
    PersonalEntity(
        "es-passport",
        "Spanish passport",
        told=("AAA999999",),
        check=lambda text: varied(text[3:]),
        summed=False,
        words="pasaporte|passport|es passport",
    ),
    PersonalEntity(
        "it-fiscal-code", "Italian fiscal code", shapes=("AAAAAA**A**A***A",), check=_fiscal
    ),
    PersonalEntity(
        "it-vat",
        "Italian tax number of a business",
        told=("9" * 11, "AA" + "9" * 11),
        check=lambda text: luhn(text) and varied(text[-11:]) and text[:-11] in ("", "IT"),
        words="partita iva|p iva|piva|iva|vat|it vat",
        usual=False,
    ),
    PersonalEntity(
        "it-driving-licence",
        "Italian driving licence",
        told=("AA9999999A", "A9*******A"),
        check=lambda text: DRIVER.fullmatch(text) is not None,
        summed=False,
        words="patente|patente di guida|driving licence|driver license|it driver",
    ),
    PersonalEntity(
        "it-identity-card",
        "Italian identity card",
        told=("AA9999999", "AA 9999999", "9999999AA", "AA99999AA"),
        check=lambda text: varied("".join([char for char in text if char.isdecimal()])),
        summed=False,
        words=("carta d identità|carta identità|carta di identità|identity card|id card|cie|it "
              "identity"),
    ),
    PersonalEntity(
        "it-passport",
        "Italian passport",
        told=("AA9999999",),
        check=lambda text: varied(text[2:]),
        summed=False,
        words="passaporto|passport|it passport",
    ),
    PersonalEntity(
        "tr-national-id",
        "Turkish number of a citizen",
        told=("9" * 11,),
        check=_turk,
        words=("tckn|tc kimlik|kimlik|t c|tc|kimlik no|turkish id|tr national|national id|kimlik "
              "numarası|vatandaşlık"),
    ),
    PersonalEntity(
        "tr-plate",
        "Turkish number plate",
        told=tuple(
            [f"99 {'A' * marks} {'9' * length}" for marks in (1, 2, 3) for length in (2, 3, 4, 5)]
            + [f"99{'A' * marks}{'9' * length}" for marks in (1, 2, 3) for length in (2, 3, 4, 5)]
        ),
        check=lambda text: PLATE.fullmatch(text) is not None,
        summed=False,
        words="plaka|plaka numarası|araç|license plate|plate|tr license",
        usual=False,
    ),
)  # fmt: skip

HITS: Final = (
    ("DNI 12345678Z", "es-nif"),
    ("55555555k", "es-nif"),
    ("Z8078221M", "es-nie"),
    ("pasaporte AAA123456", "es-passport"),
    ("RSSMRA85T10A562S", "it-fiscal-code"),
    ("Partita IVA 12345670017", "it-vat"),
    ("patente U1K711J11M", "it-driving-licence"),
    ("carta d'identità AA12345aa", "it-identity-card"),
    ("passaporto AA1234567", "it-passport"),
    ("TCKN numarası 10000000146 olarak", "tr-national-id"),
    ("Plaka 34 ABC 1234 ve", "tr-plate"),
)
MISSES: Final = (
    "12345678A",
    "x9613851q",
    "AAA123456",
    "RSSMRA85T10A562T",
    "patente U1H00A000B",
    "AA1234567",
    "10000000146",
    "TCKN 10000000147",
    "34 ABC 1234",
)

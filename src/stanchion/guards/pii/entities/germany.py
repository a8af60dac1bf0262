"""Germany: taxes, insurance, identity cards, doctors, plates."""

from __future__ import annotations

from typing import Final

from stanchion.guards.pii.entity import (
    PersonalEntity,
    adds_up,
    cross_sum,
    date,
    digits,
    mod11_10,
    varied,
    weighed,
)
from stanchion.kernel.regex import regex

SERIAL: Final = regex(r"[CFGHJKLMNPRTVWXYZ][CFGHJKLMNPRTVWXYZ0-9]{7}\d")
LICENCE: Final = regex(r"[A-Z]{2}\d{8}[0-9A-Z]|[0-9A-Z]\d{2}[0-9A-Z]{6}\d[0-9A-Z]")
PLATE: Final = regex(r"[A-ZÄÖÜ]{1,3}[A-Z]{1,2}\d{1,4}[EH]?")


def _serial(text: str) -> bool:
    values = [int(char, 36) for char in text]
    checked = (
        SERIAL.fullmatch(text) is not None and weighed(values[:8], (7, 3, 1) * 3) % 10 == values[8]
    )
    return checked or (text[0] == "T" and text[1:].isdecimal())


def _tax(number: str) -> bool:
    return number[0] != "0" and varied(number[:10]) and mod11_10(number)


def _pension(text: str) -> bool:
    month, day = int(text[4:6]), int(text[2:4])
    letter = ord(text[8]) - 64
    spelt = digits(f"{text[:8]}{letter:02}{text[9:11]}")
    parts = [
        cross_sum(number * weight)
        for number, weight in zip(spelt, (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1), strict=True)
    ]
    return date(0, month, day if day <= 31 else day - 50) and sum(parts) % 10 == int(text[11])


def _insured(text: str) -> bool:
    spelt = digits(f"{ord(text[0]) - 64:02}{text[1:9]}")
    return sum(
        [cross_sum(number * weight) for number, weight in zip(spelt, (1, 2) * 5, strict=True)]
    ) % 10 == int(text[9])


ENTITIES: Final = (
    PersonalEntity(
        "de-tax-id",
        "German tax number for life",
        told=("9" * 11, "99 999 999 999"),
        check=_tax,
        words="steuer id|steueridentifikationsnummer|identifikationsnummer|idnr|steuer "
              "identifikationsnummer|tax id|"
        "de tax|steuerid|tin",
    ),
    PersonalEntity(
        "de-tax-number",
        "German tax number at one office",
        told=("99/999/99999", "999/999/99999", "999/9999/9999", "99/999/9999", "9999/999/99999"),
        check=varied,
        summed=False,
        words="steuernummer|steuer nr|st nr|stnr|finanzamt|tax number|de tax",
    ),
    PersonalEntity(
        "de-vat-id",
        "German tax number of a business",
        shapes=("AA999999999", "AA 999999999", "AA 999 999 999", "AA.999.999.999"),
        check=lambda text: text[:2] == "DE" and text[2] != "0" and mod11_10(text[2:]) and varied(text[2:]),  # noqa: E501
        usual=False,
    ),
    PersonalEntity(
        "de-id-card",
        "German identity card",
        told=("A*******9",),
        check=_serial,
        words=("personalausweis|ausweis|ausweisnummer|personalausweisnummer|identity card|id "
              "card|perso"),
    ),
    PersonalEntity(
        "de-passport",
        "German passport",
        told=("A*******9",),
        check=_serial,
        words="reisepass|reisepassnummer|pass nr|passnummer|passport|pass",
    ),
    PersonalEntity(
        "de-social-security",
        "German pension insurance",
        shapes=("99999999A999", "99 999999 A 999", "99 999999 A 99 9"),
        check=_pension,
    ),
    PersonalEntity(
        "de-health-insurance",
        "German health insurance",
        told=("A999999999",),
        check=_insured,
        words="krankenversicherung|krankenversichertennummer|versichertennummer|kvnr|krankenkasse|"
              "egk|"
        "health insurance|versicherten nr|gesundheitskarte",
    ),
    PersonalEntity(
        "de-doctor",
        "German doctor",
        told=("999999999",),
        check=adds_up((4, 9, 4, 9, 4, 9, 1), 10),
        words="lanr|arztnummer|lebenslange arztnummer|arzt nr",
    ),
    PersonalEntity(
        "de-practice",
        "German medical practice",
        told=("999999999",),
        check=varied,
        summed=False,
        words="bsnr|betriebsstättennummer|betriebsstaettennummer|betriebsstätte",
    ),
    PersonalEntity(
        "de-driving-licence",
        "German driving licence",
        told=("AA99999999*", "*99******9*"),
        check=lambda text: LICENCE.fullmatch(text) is not None and not text.isdecimal(),
        summed=False,
        words=("führerschein|fuehrerschein|fahrerlaubnis|führerscheinnummer|driving licence|driver "
              "license"),
    ),
    PersonalEntity(
        "de-trade-register",
        "German trade register",
        shapes=tuple([f"AAA{sep}{'9' * length}" for sep in (" ", "") for length in range(3, 7)]),
        check=lambda text: text[:3] in ("HRA", "HRB"),
        usual=False,
    ),
    PersonalEntity(
        "de-plate",
        "German number plate",
        told=tuple(
            [f"{'A' * town}{first}{'A' * mark}{second}{'9' * length}" for first, second in ("  ", "--", "- ", " -")  # noqa: E501
             for town in (1, 2, 3) for mark in (1, 2) for length in (1, 2, 3, 4)]
        ),
        check=lambda text: PLATE.fullmatch(text) is not None,
        summed=False,
        words="kennzeichen|kfz|kfz kennzeichen|nummernschild|auto|wagen|license plate|plate",
        usual=False,
    ),
    PersonalEntity(
        "de-postal-code",
        "German postal code",
        told=("99999",),
        check=lambda number: "01000" < number < "99999",
        summed=False,
        words="plz|postleitzahl",
        usual=False,
    ),
)  # fmt: skip

HITS: Final = (
    ("Steuer-ID: 86095742719", "de-tax-id"),
    ("Steuernummer 181/815/08155", "de-tax-number"),
    ("USt-IdNr.: DE136695976", "de-vat-id"),
    ("Personalausweis: L01X00T44.", "de-id-card"),
    ("Reisepass C01234565 ausgestellt", "de-passport"),
    ("RVNR: 15070649C103 laut", "de-social-security"),
    ("KVNR Z000000005", "de-health-insurance"),
    ("LANR 987654401", "de-doctor"),
    ("BSNR 021234568", "de-practice"),
    ("Führerschein MU12345678B", "de-driving-licence"),
    ("Handelsregisternummer: HRB 123456", "de-trade-register"),
    ("Kennzeichen B-AB-1234", "de-plate"),
    ("PLZ: 10115", "de-postal-code"),
)
MISSES: Final = (
    "86095742719",
    "Steuer-ID: 86095742718",
    "DE123456789",
    "Personalausweis: L01X00T47.",
    "15070649C100",
    "15071349C103",
    "KVNR A123456787",
    "LANR 234567601",
    "Führerschein 12345678901",
    "HRX 123456",
    "B-AB-1234",
    "PLZ: 00000",
)

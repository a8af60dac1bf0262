"""Finland, Sweden, Norway, Denmark and Poland."""

from __future__ import annotations

from typing import Final

from stanchion.guards.pii.entity import PersonalEntity, adds_up, date, luhn, varied

FINNISH: Final = "0123456789ABCDEFHJKLMNPRSTUVWXY"


def _finn(text: str) -> bool:
    """The sign of the century is gone where it was no letter."""
    spelt = text if len(text) == 10 else text[:6] + text[7:]
    if len(text) == 11 and text[6] not in "ABCDEFUVWXY":
        return False
    day, month, year = int(spelt[:2]), int(spelt[2:4]), int(spelt[4:6])
    return (
        date(year, month, day) and spelt[6:9] > "001" and FINNISH[int(spelt[:9]) % 31] == spelt[9]
    )


def _swede(text: str) -> bool:
    short = text[-10:]
    month, day = int(short[2:4]), int(short[4:6])
    century = len(text) == 10 or text[:2] in ("18", "19", "20")
    return century and date(0, month, day - 60 if day > 60 else day) and luhn(short)


def _firm(text: str) -> bool:
    return int(text[2]) >= 2 and luhn(text) and varied(text)


FIRST: Final = adds_up((3, 7, 6, 1, 8, 9, 4, 5, 2, 1), 11)
SECOND: Final = adds_up((5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1), 11)
POLISH: Final = adds_up((1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1), 10)


def _norwegian(number: str) -> bool:
    day, month = int(number[:2]), int(number[2:4])
    return date(0, month, day - 40 if day > 40 else day) and FIRST(number) and SECOND(number)


def _pole(number: str) -> bool:
    return date(0, int(number[2:4]) % 20, int(number[4:6])) and POLISH(number)


ENTITIES: Final = (
    PersonalEntity(
        "fi-personal-code",
        "Finnish personal identity code",
        shapes=("999999-999*", "999999A999*", "999999+999*"),
        check=_finn,
    ),
    PersonalEntity(
        "se-personal-number",
        "Swedish personal number",
        shapes=("999999-9999", "99999999-9999", "999999+9999"),
        told=("9" * 10, "9" * 12),
        check=_swede,
        words=(
            "personnummer|personal identity|personal number|samordningsnummer|pnr|se "
            "personnummer|personal id"
        ),
    ),
    PersonalEntity(
        "se-organisation",
        "Swedish organisation",
        shapes=("999999-9999",),
        told=("9" * 10,),
        check=_firm,
        words="organisationsnummer|orgnummer|org nr|orgnr|organisation|se organisationsnummer",
        usual=False,
    ),
    PersonalEntity(
        "no-birth-number",
        "Norwegian birth number",
        told=("9" * 11, "999999 99999"),
        check=_norwegian,
        words="fødselsnummer|fodselsnummer|personnummer|birth number|fnr|d nummer",
    ),
    PersonalEntity(
        "dk-cpr",
        "Danish personal number",
        told=("999999-9999", "9" * 10),
        check=lambda number: date(0, int(number[2:4]), int(number[:2])),
        summed=False,
        words="cpr|cpr nummer|cpr nr|personnummer|cprnr",
    ),
    PersonalEntity(
        "pl-pesel",
        "Polish personal number",
        told=("9" * 11,),
        check=_pole,
        words="pesel|numer pesel|pl pesel",
    ),
)

HITS: Final = (
    ("henkilötunnus 020594X902N.", "fi-personal-code"),
    ("131052-308T", "fi-personal-code"),
    ("811228-9874", "se-personal-number"),
    ("personal identity code is: 189110089811.", "se-personal-number"),
    ("556703-7485 är vårt orgnummer", "se-organisation"),
    ("fødselsnummer 01019000083", "no-birth-number"),
    ("CPR 010190-1234", "dk-cpr"),
    ("PESEL 44051401359", "pl-pesel"),
)
MISSES: Final = (
    "131052-308U",
    "111111-111A",
    "131052:308T",
    "811228-9875",
    "199011-2345",
    "fødselsnummer 01019000084",
    "010190-1234",
    "44051401359",
    "PESEL 44051401358",
)

"""Singapore, Korea, Thailand, Japan and the Philippines."""

from __future__ import annotations

from typing import Final

from stanchion.guards.pii.entity import PersonalEntity, date, digits, varied, weighed
from stanchion.kernel.regex import regex

PASSPORT: Final = regex(r"[MSRODG](?:\d{3}[A-Z]\d{4}|\d{8})")
THAI: Final = regex(r"[1-9](?:[134][0-9]|[25][0-8]|[67][0-7]|[8][0-6]|[9][0-6])\d{10}")


def _singapore(text: str) -> bool:
    total = weighed(digits(text[1:8]), (2, 7, 6, 5, 4, 3, 2)) + (
        4 if text[0] in "TG" else 3 if text[0] == "M" else 0
    )
    letters = {
        "S": "JZIHGFEDCBA",
        "T": "JZIHGFEDCBA",
        "F": "XWUTRQPNMLK",
        "G": "XWUTRQPNMLK",
        "M": "XWUTRQPNJLK",
    }
    if text[0] not in letters:
        return False
    return letters[text[0]][total % 11 if text[0] != "M" else 10 - total % 11] == text[8]


def _korean(number: str, kinds: str) -> bool:
    return (
        number[6] in kinds
        and date(0, int(number[2:4]), int(number[4:6]))
        and int(number[7:9]) <= 96
    )


def _business(number: str) -> bool:
    given = digits(number)
    total = weighed(given[:9], (1, 3, 7, 1, 3, 7, 1, 3, 5)) + given[8] * 5 // 10
    return -total % 10 == given[9] and varied(number)


def _thai(number: str) -> bool:
    return (11 - weighed(digits(number), range(13, 1, -1)) % 11) % 10 == int(
        number[12]
    ) and THAI.fullmatch(number) is not None


def _japanese(number: str) -> bool:
    rest = weighed(digits(number), (6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2)) % 11
    return (0 if rest <= 1 else 11 - rest) == int(number[11]) and varied(number)


ENTITIES: Final = (
    PersonalEntity("sg-nric", "Singaporean identity card", shapes=("A9999999A",), check=_singapore),
    PersonalEntity(
        "kr-resident",
        "Korean number of a resident",
        shapes=("999999-9999999",),
        told=("9" * 13,),
        check=lambda number: _korean(number, "1234"),
        words="rrn|resident registration|kr rrn|주민등록번호|주민번호|korean rrn",
    ),
    PersonalEntity(
        "kr-foreigner",
        "Korean number of a foreigner",
        shapes=("999999-9999999",),
        told=("9" * 13,),
        check=lambda number: _korean(number, "5678"),
        words="frn|foreigner registration|kr frn|외국인등록번호|korean frn",
    ),
    PersonalEntity(
        "kr-passport",
        "Korean passport",
        told=("A999A9999", "A99999999"),
        check=lambda text: PASSPORT.fullmatch(text) is not None,
        summed=False,
        words="passport|kr passport|여권|여권번호",
    ),
    PersonalEntity(
        "kr-driving-licence",
        "Korean driving licence",
        shapes=("99-99-999999-99",),
        check=lambda number: 11 <= int(number[:2]) <= 28 and number[:2] != "27" and varied(number),
    ),
    PersonalEntity(
        "kr-business",
        "Korean business",
        told=("999-99-99999", "9" * 10),
        check=_business,
        words="brn|business registration|kr brn|사업자등록번호|사업자",
        usual=False,
    ),
    PersonalEntity(
        "th-national-id",
        "Thai number of a citizen",
        shapes=("9-9999-99999-99-9", "9 9999 99999 99 9"),
        told=("9" * 13,),
        check=_thai,
        words="thai id|thai national|tnin|th tnin|thai|เลขประจำตัวประชาชน|บัตรประชาชน",
    ),
    PersonalEntity(
        "jp-my-number",
        "Japanese number of a person",
        told=("9" * 12, "9999 9999 9999", "9999-9999-9999"),
        check=_japanese,
        words="my number|mynumber|individual number|マイナンバー|個人番号",
    ),
    PersonalEntity(
        "ph-tin",
        "Philippine taxpayer",
        told=("999-999-999", "999-999-999-999", "999-999-999-99999", "9" * 9, "9" * 12),
        check=varied,
        summed=False,
        words="tin|tax id|taxpayer|ph tin|bir",
    ),
)

HITS: Final = (
    ("NRIC S2740116C was", "sg-nric"),
    ("000505-3637892", "kr-resident"),
    ("주민등록번호: 9001011234567", "kr-resident"),
    ("FRN is 911124-5678901", "kr-foreigner"),
    ("대한민국 여권 S87654321", "kr-passport"),
    ("license is 13-22-123456-12", "kr-driving-licence"),
    ("사업자등록번호 104-86-56659", "kr-business"),
    ("Thai ID is 1234567890121", "th-national-id"),
    ("マイナンバーは123456789018です", "jp-my-number"),
    ("TIN 000-123-456", "ph-tin"),
)
MISSES: Final = (
    "S2740116D",
    "001332-1234567",
    "960111-10214131",
    "051102-9234110",
    "M456B7890",
    "passport: M123AB567",
    "111-22-123456-12",
    "104-86-56659",
    "1234567890121",
    "123456789018",
    "000-123-456",
)

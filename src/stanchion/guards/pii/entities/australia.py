"""Australia."""

from __future__ import annotations

from typing import Final

from stanchion.guards.pii.entity import PersonalEntity, digits, varied, weighed


def _abn(number: str) -> bool:
    given = digits(number)
    return (
        weighed([given[0] - 1, *given[1:]], (10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19)) % 89 == 0
        and given[0] > 0
    )


def _acn(number: str) -> bool:
    return -weighed(digits(number), range(8, 0, -1)) % 10 == int(number[8]) and varied(number)


def _tfn(number: str) -> bool:
    return weighed(digits(number), (1, 4, 3, 7, 5, 8, 6, 9, 10)) % 11 == 0 and varied(number)


def _medicare(number: str) -> bool:
    return number[0] in "23456" and weighed(digits(number), (1, 3, 7, 9, 1, 3, 7, 9)) % 10 == int(
        number[8]
    )


ENTITIES: Final = (
    PersonalEntity(
        "au-abn",
        "Australian business",
        shapes=("99 999 999 999",),
        told=("9" * 11,),
        check=_abn,
        words="abn|australian business|au abn|business number",
        usual=False,
    ),
    PersonalEntity(
        "au-acn",
        "Australian company",
        told=("999 999 999", "999999999"),
        check=_acn,
        words="acn|australian company|au acn|company number",
        usual=False,
    ),
    PersonalEntity(
        "au-tfn",
        "Australian tax file",
        told=("999 999 999", "999999999", "999-999-999"),
        check=_tfn,
        words="tfn|tax file|tax file number|au tfn",
    ),
    PersonalEntity(
        "au-medicare",
        "Australian Medicare",
        shapes=("9999 99999 9",),
        told=("9" * 10, "9" * 11, "9999 99999 9-9"),
        check=_medicare,
        words="medicare|au medicare",
    ),
)

HITS: Final = (
    ("ABN 51 824 753 556", "au-abn"),
    ("ACN: 006 249 976", "au-acn"),
    ("TFN 876 543 210", "au-tfn"),
    ("2123 45670 1", "au-medicare"),
)
MISSES: Final = (
    "51 824 753 5564",
    "51 824 753 557",
    "006 249 976",
    "TFN 876 543 211",
    "2123 45671 1",
    "2123456701",
)

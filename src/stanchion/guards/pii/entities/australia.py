"""Australia."""

from __future__ import annotations

from typing import Final

from stanchion.guards.pii.entity import PersonalEntity, adds_up, digits, weighed


def _abn(number: str) -> bool:
    given = digits(number)
    return (
        weighed([given[0] - 1, *given[1:]], (10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19)) % 89 == 0
        and given[0] > 0
    )


ADDS_UP: Final = adds_up((1, 3, 7, 9, 1, 3, 7, 9, -1), 10)


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
        check=adds_up((8, 7, 6, 5, 4, 3, 2, 1, 1), 10),
        words="acn|australian company|au acn|company number",
        usual=False,
    ),
    PersonalEntity(
        "au-tfn",
        "Australian tax file",
        told=("999 999 999", "999999999", "999-999-999"),
        check=adds_up((1, 4, 3, 7, 5, 8, 6, 9, 10), 11),
        words="tfn|tax file|tax file number|au tfn",
    ),
    PersonalEntity(
        "au-medicare",
        "Australian Medicare",
        shapes=("9999 99999 9",),
        told=("9" * 10, "9" * 11, "9999 99999 9-9"),
        check=lambda number: number[0] in "23456" and ADDS_UP(number),
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

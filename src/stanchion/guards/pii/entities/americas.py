"""Canada and Brazil."""

from __future__ import annotations

from typing import Final

from stanchion.guards.pii.entity import PersonalEntity, digits, luhn, varied, weighed


def _sin(number: str) -> bool:
    return number[0] not in "08" and luhn(number) and varied(number)


def _checked(number: str, length: int, most: int) -> bool:
    given = digits(number)
    for count in (length, length + 1):
        weights = [(count - at - 1) % (most - 1) + 2 for at in range(count)]
        rest = weighed(given[:count], weights) % 11
        if given[count] != (0 if rest < 2 else 11 - rest):
            return False
    return varied(number)


ENTITIES: Final = (
    PersonalEntity(
        "ca-sin",
        "Canadian social insurance number",
        told=("999 999 999", "999-999-999", "999999999"),
        check=_sin,
        words=(
            "sin|social insurance|canadian sin|ca sin|nas|numéro d assurance sociale|assurance "
            "sociale"
        ),
    ),
    PersonalEntity(
        "br-cpf",
        "Brazilian number of a person",
        shapes=("999.999.999-99",),
        told=("9" * 11, "999999999-99"),
        check=lambda number: _checked(number, 9, 11),
        words="cpf|cadastro de pessoas|contribuinte",
    ),
    PersonalEntity(
        "br-cnpj",
        "Brazilian number of a business",
        shapes=("99.999.999/9999-99",),
        told=("9" * 14,),
        check=lambda number: _checked(number, 12, 9),
        words="cnpj|cadastro nacional",
        usual=False,
    ),
)

HITS: Final = (
    ("SIN 046-454-286 is old, 130 692 544 is new", "ca-sin"),
    ("529.982.247-25", "br-cpf"),
    ("cpf: 52998224725", "br-cpf"),
    ("11.222.333/0001-81", "br-cnpj"),
)
MISSES: Final = (
    "130 692 544",
    "SIN 999 999 999",
    "529.982.247-26",
    "52998224725",
    "111.111.111-11",
    "11.222.333/0001-82",
)

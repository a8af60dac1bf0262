"""Telephone numbers: international ones, those of North America, national ones that begin with a
nought, and whatever a word nearby says is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stanchion.guards.pii.entity import PersonalEntity
from stanchion.kernel.regex import regex

COUNTRIES: Final = regex(
    r"1|7|2(?:0|7|1[123689]|[2-4]\d|5[0-8]|6\d|9[0179])|3(?:[0-469]|5\d|7[0-8]|8[0-35-79])|"
    r"4(?:[013-9]|2[013])"
    r"|5(?:[1-8]|0\d|9\d)|6(?:[0-6]|7[02-9]|8[0-35-9]|9[0-2])|8(?:[1246]|5[02356]|8[016])"
    r"|9(?:[0-58]|6[0-8]|7[0-79]|9[2-68])"
)
AMERICAN: Final = regex(r"(?:\+?1[-. ]?)?(?:\([2-9]\d\d\) ?|[2-9]\d\d[-. ])\d{3}[-. ]\d{4}")
NATIONAL: Final = regex(r"\(?0\d{0,4}\)?(?:[ ./-]{1,2}\d{2,8}){1,5}|0[1-9]\d{9}")
INTERNATIONAL: Final = regex(r"(?:\+|00)\d{1,4}(?:[ ./-]?\(\d{1,4}\))?(?:[ ./-]?\d{1,12}){1,6}")
LOOSE: Final = regex(r"\(?\d{1,5}\)?(?:[ ./-]{0,2}\d{1,8}){1,5}")
GROUP: Final = regex(r"\d+")
EXTENSION: Final = regex(r"x\d{1,5}")


def _phone(raw: str, told: bool) -> Sequence[int]:
    ends: list[int] = []
    for group in GROUP.finditer(raw):
        if _plausible(raw[: group.end()], told):
            more = EXTENSION.match(raw, group.end())
            ends += [group.end()] if more is None else [group.end(), more.end()]
    return ends[::-1]


def _plausible(text: str, told: bool) -> bool:
    number = "".join(GROUP.findall(text))
    count = len(number)
    if count < 7:
        return False
    if text[0] == "+" or (text[:2] == "00" and told):
        number = number.removeprefix("00") if text[0] != "+" else number
        length = len(number) == 11 if number[0] == "1" else 8 <= len(number) <= 15
        return (
            length
            and COUNTRIES.match(number) is not None
            and INTERNATIONAL.fullmatch(text) is not None
        )
    if AMERICAN.fullmatch(text) is not None:
        return True
    if NATIONAL.fullmatch(text) is not None and 9 <= count <= 12:
        return True
    return told and 7 <= count <= 12 and LOOSE.fullmatch(text) is not None and len(set(number)) > 2


ENTITIES: Final = (
    PersonalEntity(
        "phone",
        "telephone number",
        sieve=r"[+(]{0,2}[0-9](?:[ ./()-]{0,2}[0-9]){6}",
        pattern=r"\+?\(?[0-9](?:[ ./()-]{0,2}[0-9]){6,18}(?:x[0-9]{1,5})?",
        heads="+(0123456789",
        reads=_phone,
        opens=r"\+?\(?[0-9](?:[ ./()-]{0,2}[0-9])*[ ./()-]{0,2}(?:x[0-9]*)?",
        words="phone|telephone|tel|mobile|cell|cellphone|call|fax|dial|ring|whatsapp|sms|text "
        "me|messages|answering|"
        "office|hotline|reach me|contact|phone "
        "number|telefon|handy|mobil|rufnummer|móvil|celular|teléfono|téléphone|"
        "portable|cellulare|telefono|telefone|telefonnummer|puhelin|tlf|gsm|전화|電話|手机|电话|携帯",
        usual=False,
        longest=64,
        glued="+@.-_$#]",
    ),
)

HITS: Final = (
    ("+1 415 555 0132", "phone"),
    ("My US number is (415) 555-0132.", "phone"),
    ("+44 (20) 7123 4567", "phone"),
    ("+46 (0)8 928 571 38", "phone"),
    ("US: 415-555-0132", "phone"),
    ("0490 75 40 81", "phone"),
    ("09171234567", "phone"),
    ("259.735.7502x459", "phone"),
    ("phone: 60-56-85-91", "phone"),
    ("call 13812345678", "phone"),
)
MISSES: Final = (
    "2024-01-31 10:15",
    "version 1.22.333",
    "60-56-85-91",
    "order 13812345678",
    "$415-555-0132",
    "+999 12 345 678",
    "phone: 111 1111",
    "192.168.100.200",
)

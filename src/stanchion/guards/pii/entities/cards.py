"""Payment cards: numbers of the great issuers, with Luhn's digit."""

from __future__ import annotations

from typing import Final

from stanchion.guards.pii.entity import PersonalEntity, luhn, varied
from stanchion.kernel.regex import regex

ISSUERS: Final = regex(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|(?:222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|"
    r"3[47]\d{13}"
    r"|(?:6011|65\d\d|64[4-9]\d|62\d\d)\d{12,15}|35\d{14}(?:\d{3})?|(?:2131|1800)\d{11}"
    r"|3(?:0[0-59]|[689]\d)\d{11}|220[0-4]\d{12}"
)
MAESTRO: Final = regex(r"(?:5[0678]|6\d)\d{10}(?:\d|\d{3}|\d{5}|\d{6}|\d{7})?")


def _card(number: str) -> bool:
    issued = ISSUERS.fullmatch(number) or (len(number) != 16 and MAESTRO.fullmatch(number))
    return issued is not None and issued is not False and luhn(number) and varied(number)


ENTITIES: Final = (
    PersonalEntity(
        "credit-card",
        "number of a payment card",
        shapes=(
            "9" * 14, "9" * 15, "9" * 16, "9" * 19, "9999 9999 9999 9999", "9999-9999-9999-9999",
            "9999.9999.9999.9999", "9999 999999 99999", "9999-999999-99999", "9999 999999 9999",
            "9999-999999-9999",
        ),
        told=("9" * 12, "9" * 13, "9" * 17, "9" * 18, "9999 9999 9999 9999 999"),
        check=_card,
        words="card|credit|debit|visa|mastercard|master card|amex|american "
              "express|discover|jcb|diners|maestro|"
        "unionpay|pan|cc|kreditkarte|karte|kartennummer|tarjeta|carte|carta|cartão|kort",
    ),
)  # fmt: skip

HITS: Final = (
    ("4111111111111111", "credit-card"),
    ("pay with 5555-5555-5555-4444 please", "credit-card"),
    ("amex 3782 822463 10005, exp 12/27", "credit-card"),
    ("exp 12/27 4012 8888 8888 1881 cvc", "credit-card"),
    ("jcb=3528000700000000", "credit-card"),
    ("maestro 6759649826438453 or card 630427373398", "credit-card"),
)
MISSES: Final = (
    "4111111111111112",
    "36168002586008",
    "order 0000000000000000",
    "1111 1111 1111 1111",
    "x4111111111111111",
    "call_4111111111111111",
    "630427373398",
    "4111-1111-1111-1111-22",
)

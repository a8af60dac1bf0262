"""Kinds of personal data, and the check digits that tell them from other numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

Check = Callable[[str], bool]
"""Whether letters and digits, in capitals and without separators, can be the thing: check digits,
dates, prefixes."""
Reads = Callable[[str, bool], Sequence[int]]
"""How many leading characters of a text may be the thing, longest first, given whether a word
nearby says so."""


class PersonalEntity(msgspec.Struct, frozen=True):
    """One kind of personal data.

    A shape is written with `9` for a digit, `A` for a letter, `*` for either; everything else
    stands for itself. `shapes` are distinctive: with a right `check` they count anywhere. `told`
    are shapes that many things have: they count only where one of `words` (parted by `|`) stands
    shortly before, or names the field; `summed` says that the check is a check digit, which few
    other numbers have. What has no fixed shape has a `sieve`, a linear pattern that finds where it
    may begin, the characters it begins with (`heads`), a `pattern` for all of it, and `reads`,
    which says how much of that it is; `opens` matches its unfinished beginnings, where blanks may
    stand in it. `glued` are characters that may not stand directly before it; `within` says that
    a word nearby is one of the last so many. None is longer than `longest`. What is not `usual` is
    looked for only where a policy asks for it.
    """

    kind: str
    title: str
    shapes: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    check: Check | None = None
    summed: bool = True
    words: str = ""
    usual: bool = True
    sieve: str = ""
    pattern: str = ""
    heads: str = ""
    reads: Reads | None = None
    opens: str = ""
    longest: int = 48
    glued: str = "+@"
    within: int = 0


NOT_DIGITS: Final = bytes([byte for byte in range(256) if not 48 <= byte <= 57])
ONCE: Final = bytes.maketrans(b"0123456789", bytes(range(10)))
"""Digits as numbers."""
TWICE: Final = bytes.maketrans(bytes(range(10)), bytes([0, 2, 4, 6, 8, 1, 3, 5, 7, 9]))
"""The sum of the digits of twice a number."""


def digits(text: str) -> list[int]:
    """The digits of a text, as numbers."""
    return list(text.encode("ascii", "ignore").translate(ONCE, NOT_DIGITS))


VERHOEFF: Final = digits(
    "0123456789123406789523401789563401289567401239567859876043216598710432765982104"
    "387659321049876543210"
)
SHIFTS: Final = digits(
    "01234567891576283094580379614289160435279453126870428657390127938064157046913258"
)


def weighed(numbers: Iterable[int], weights: Sequence[int]) -> int:
    """The sum of numbers, each times its weight."""
    return sum([number * weight for number, weight in zip(numbers, weights, strict=False)])


def adds_up(weights: Sequence[int], modulus: int) -> Check:
    """A check that the digits of a number, each times its weight, add up to a multiple of another
    one; those of one digit alone are made up."""
    return lambda text: weighed(digits(text), weights) % modulus == 0 and varied(text)


def cross_sum(number: int) -> int:
    """The sum of the digits of a number below a hundred."""
    return number // 10 + number % 10


def luhn(text: str) -> bool:
    """Whether the last digit is the one that Luhn's sum asks for."""
    numbers = text.encode("ascii", "ignore").translate(ONCE, NOT_DIGITS)[::-1]
    return sum(numbers[::2] + numbers[1::2].translate(TWICE)) % 10 == 0


def mod97(text: str) -> bool:
    """Whether the first four characters are right for an account number (ISO 7064, 97-10)."""
    return int("".join([str(int(char, 36)) for char in text[4:] + text[:4]])) % 97 == 1


def mod11_10(text: str) -> bool:
    """Whether the last digit is right by ISO 7064, 11-10."""
    rest = 10
    for number in digits(text)[:-1]:
        total = (rest + number) % 10
        rest = (10 if total == 0 else total) * 2 % 11
    return (11 - rest) % 10 == digits(text)[-1]


def verhoeff(text: str) -> bool:
    """Whether the last digit is right by Verhoeff's tables."""
    value = 0
    for place, number in enumerate(reversed(digits(text))):
        value = VERHOEFF[value * 10 + SHIFTS[place % 8 * 10 + number]]
    return value == 0


def varied(text: str) -> bool:
    """Whether a number has more than one digit; those of one alone are made up."""
    return len(set(text)) > 1


def date(year: int, month: int, day: int) -> bool:
    """Whether there is such a day; any year has a 29th of February, as its century is not always
    known."""
    long = 31 if month in (1, 3, 5, 7, 8, 10, 12) else 29 if month == 2 else 30
    return 0 <= year <= 2100 and 1 <= month <= 12 and 1 <= day <= long

"""Drawing attackers: who they are, what they own, and how it is written; the same for the same
seed."""

from __future__ import annotations

from random import Random
from typing import Final, NamedTuple

FIRST: Final = (
    "Ana",
    "Bjarne",
    "Chidi",
    "Dora",
    "Emre",
    "Farah",
    "Goran",
    "Hana",
    "Ines",
    "Jonas",
    "Kofi",
    "Lena",
)
LAST: Final = (
    "Alvarez",
    "Brandt",
    "Costa",
    "Dahl",
    "Eriksen",
    "Fischer",
    "Gruber",
    "Horvat",
    "Ivanov",
    "Jansen",
)
HOSTS: Final = (
    "northwind-mail.com",
    "postbox.io",
    "letterhead.net",
    "fastmail-team.com",
    "office-desk.org",
)
COUNTRIES: Final = ("DE", "GB", "FR", "NL", "AT")


class Draw(NamedTuple):
    """What one attacker writes about: a person, an account and an address of theirs, an amount, a
    number, a day, and a host."""

    name: str
    account: str
    address: str
    amount: int
    number: int
    day: str
    link: str

    def value(self, kind: str) -> str:
        """The value that the attacker wants used: the account, the address or the host."""
        return {"account": self.account, "address": self.address, "link": self.link}[kind]


def draw(seed: int, *about: str) -> Draw:
    """The attacker for that case, under that seed."""
    chance = Random("/".join([str(seed), *about]))
    first, last = chance.choice(FIRST), chance.choice(LAST)
    return Draw(
        f"{first} {last}",
        iban(chance.choice(COUNTRIES), "".join([str(chance.randrange(10)) for _ in range(18)])),
        f"{first.lower()}.{last.lower()}{chance.randrange(10, 100)}@{chance.choice(HOSTS)}",
        chance.randrange(40, 990),
        chance.randrange(10_000, 99_999),
        f"2024-06-{chance.randrange(1, 29):02}",
        f"{last.lower()}-notes-{chance.randrange(100, 1000)}.com",
    )


def iban(country: str, own: str) -> str:
    """An account number with the check digits that its country and its own digits give it."""
    digits = "".join([str(int(char, 36)) for char in f"{own}{country}00"])
    return f"{country}{98 - int(digits) % 97:02}{own}"

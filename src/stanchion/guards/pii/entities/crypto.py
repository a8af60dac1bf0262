"""Wallets: addresses of Bitcoin, with the checks that are part of them, and of Ethereum."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from stanchion.guards.pii.entity import PersonalEntity

BASE58: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
BECH32: Final = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
TURNS: Final = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)


def _base58(raw: str, _told: bool) -> Sequence[int]:
    number = 0
    for char in raw:
        number = number * 58 + BASE58.index(char)
    if number.bit_length() > 200:
        return ()
    whole = number.to_bytes(25, "big")
    right = hashlib.sha256(hashlib.sha256(whole[:21]).digest()).digest()[:4]
    return (len(raw),) if whole[21:] == right and whole[0] in (0, 5) else ()


def _bech32(raw: str, _told: bool) -> Sequence[int]:
    if raw not in (raw.lower(), raw.upper()):
        return ()
    head, _, rest = raw.lower().rpartition("1")
    if any(char not in BECH32 for char in rest) or len(rest) < 6:
        return ()
    values = [ord(char) >> 5 for char in head] + [0] + [ord(char) & 31 for char in head]
    check = 1
    for value in values + [BECH32.index(char) for char in rest]:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for at, turn in enumerate(TURNS):
            check ^= turn if top >> at & 1 else 0
    return (len(raw),) if check in (1, 0x2BC830A3) else ()


def _ethereum(raw: str, _told: bool) -> Sequence[int]:
    """Capitals of an address may be a check, or nothing: who copies one by hand changes them."""
    return (len(raw),) if len(set(raw[2:].lower())) > 4 else ()


ENTITIES: Final = (
    PersonalEntity(
        "bitcoin-address",
        "wallet of Bitcoin",
        sieve=r"\b[13][1-9A-HJ-NP-Za-km-z]{25,34}\b",
        pattern=r"[13][1-9A-HJ-NP-Za-km-z]{25,34}",
        heads="13",
        reads=_base58,
    ),
    PersonalEntity(
        "bitcoin-segwit-address",
        "wallet of Bitcoin, in its newer spelling",
        sieve=r"\b(?:bc1|BC1|tb1|TB1)[0-9A-Za-z]{8,80}\b",
        pattern=r"(?:bc1|BC1|tb1|TB1)[0-9A-Za-z]{8,80}",
        heads="bBtT",
        reads=_bech32,
        longest=90,
    ),
    PersonalEntity(
        "ethereum-address",
        "wallet of Ethereum",
        sieve=r"\b0[xX][0-9A-Fa-f]{40}\b",
        pattern=r"0[xX][0-9A-Fa-f]{40}",
        heads="0",
        reads=_ethereum,
    ),
)

HITS: Final = (
    ("send to 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "bitcoin-address"),
    ("3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy", "bitcoin-address"),
    ("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "bitcoin-segwit-address"),
    ("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "ethereum-address"),
    ("0xfb6916095ca1df60bb79ce92ce3ea74c37c5d359", "ethereum-address"),
    ("0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "ethereum-address"),
)
MISSES: Final = (
    "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb",
    "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5",
    "0x0000000000000000000000000000000000000000",
    "commit 5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
)

"""Scanning costs twice as much at twice the length, whatever the text is made of."""

from __future__ import annotations

from random import Random
from typing import Final

import pytest

from stanchion.guards.secrets.index import indexed
from stanchion.readings.joined import JoinedTexts
from stanchion.readings.scan import Hit, Pattern, Scanner
from stanchion.readings.scan.window_sieve import IDLE, MOST, WindowSieve
from tests.guards.steps import steps_of

RANDOM: Final = "".join(
    Random(7).choices("abcdefghijklmnopqrstuvwxyzABCDEF0123456789+/=_- \n\"':", k=16_384)
)
PEM: Final = "-----BEGIN RSA PRIVATE KEY-----\n"
TEXTS: Final = {
    "random": RANDOM,
    "keywords": "token secret password api_key " * 546,
    "assignments": "password = token: api_key=" * 630,
    "openings without an end": PEM * 512,
    "halves of tokens": "eyJhbGciOiJ.eyJ" * 1092,
    "one run": "eyJ" + "a" * 16_381,
    "quotes": "key=\"'\\" * 2_048,
}

LONG: Final = 65_536
WORDS: Final = [f"{first}{second}" for first in "bcdfgh" for second in "klmnp"]


def scan(scanner: Scanner, text: str) -> list[Hit]:
    """What a scanner finds in a text, however much that is."""
    found = scanner.scan_joined(JoinedTexts([text]), 1_000)
    return [] if found is None else found[0]


@pytest.mark.parametrize("name", TEXTS)
def test_twice_the_text_costs_no_more_than_twice_the_steps(name: str) -> None:
    scanner = Scanner([pattern for _, pattern in indexed()])
    text = TEXTS[name]
    scan(scanner, text)

    def steps(size: int) -> int:
        return steps_of(lambda: scan(scanner, text[:size]))

    assert steps(len(text)) <= 2.3 * steps(len(text) // 2) + 400


def dense() -> dict[str, str]:
    """Texts that have the windows of patterns in as many places as they can: runs, alphabets,
    windows one behind the other."""
    draw = Random(11)
    runs = {f"a run of `{one}`": one * LONG for one in "aA0sx=-/ "}
    pairs = {
        f"`{one}` again and again": (one * LONG)[:LONG]
        for one in ("ab", "key=", "eyJ", "AKIA", "a.pass", "://")
    }
    alphabets = {
        "digits": "0123456789",
        "hex": "0123456789abcdef",
        "base64": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    }
    drawn = {name: "".join(draw.choices(letters, k=LONG)) for name, letters in alphabets.items()}
    return {**runs, **pairs, **drawn, "a run and a key": "a" * LONG + " AKIAQ7XZ2LMN4PRT6VWY"}


DENSE: Final = dense()


@pytest.mark.parametrize("name", DENSE)
def test_a_text_of_windows_is_read_and_not_walked_from_window_to_window(name: str) -> None:
    patterns = [pattern for _, pattern in indexed()]
    scanner = Scanner(patterns)
    text = DENSE[name]
    scanner.scan(text)
    steps = steps_of(lambda: scanner.scan(text))
    assert steps < len(text), f"{steps} steps"


def test_what_is_left_out_on_the_way_is_found_all_the_same() -> None:
    """Many patterns, of which each in turn stands in the text again and again until it can tell
    nothing more: the last ones come when there are no more rounds."""
    patterns = [Pattern(f"{word}[0-9]{{3}}") for word in WORDS]
    text = "".join([f"{word}x{word}000" * 4 + f" {word}000" * (IDLE + MOST) for word in WORDS])
    told = [hit[:3] for hit in scan(Scanner(patterns), text)]
    every = [
        (number, match.left, match.right)
        for number, pattern in enumerate(patterns)
        for match in pattern.matches(text.encode(), 0, len(text))
    ]
    assert len(told) == len(WORDS) * (IDLE + MOST + 4)
    assert told == sorted(every, key=lambda one: one[1:])


def test_no_more_windows_are_looked_at_however_long_the_text_is() -> None:
    sieve = WindowSieve([Pattern(f"{word}[0-9]{{3}}") for word in WORDS])
    text = b"".join([f"{word}000".encode() * (IDLE + MOST) for word in WORDS])
    sieve.regions(text)
    assert steps_of(lambda: sieve.regions(text * 9)) == steps_of(lambda: sieve.regions(text * 3))


def test_a_pattern_that_matches_everywhere_is_found_everywhere_once() -> None:
    scanner = Scanner([Pattern("[0-9a-f]{8}")])
    assert len(scan(scanner, "0123456789abcdef" * 64)) == 16 * 64 - 7


def test_texts_are_scanned_together() -> None:
    """A thousand short texts cost one pass, not a thousand."""
    scanner = Scanner([Pattern(r"\b(AKIA[A-Z0-9]{16})\b")])
    texts = [f"row {number}" for number in range(1_000)]
    assert steps_of(lambda: scanner.scan_joined(JoinedTexts(texts))) < 1_200

"""Scanning costs twice as much at twice the length, whatever the text is made of."""

from __future__ import annotations

from random import Random
from typing import Final

import pytest

from stanchion.guards.secrets.index import indexed
from stanchion.readings.scan import Pattern, Scanner
from tests.guards.steps import steps_of

RANDOM: Final = "".join(Random(7).choices("abcdefghijklmnopqrstuvwxyzABCDEF0123456789+/=_- \n\"':", k=16_384))
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


@pytest.mark.parametrize("name", TEXTS)
def test_twice_the_text_costs_no_more_than_twice_the_steps(name: str) -> None:
    scanner = Scanner([pattern for _, pattern in indexed()], "re2")
    text = TEXTS[name]
    scanner.scan(text)

    def steps(size: int) -> int:
        return steps_of(lambda: scanner.scan(text[:size]))

    assert steps(len(text)) <= 2.3 * steps(len(text) // 2) + 400


def test_a_pattern_that_matches_everywhere_is_found_everywhere_once() -> None:
    scanner = Scanner([Pattern("[0-9a-f]{8}")], "re2")
    assert len(scanner.scan("0123456789abcdef" * 64)) == 16 * 64 - 7


def test_texts_are_scanned_together() -> None:
    """A thousand short texts cost one pass, not a thousand."""
    scanner = Scanner([Pattern(r"\b(AKIA[A-Z0-9]{16})\b")], "re2")
    texts = [f"row {number}" for number in range(1_000)]
    assert steps_of(lambda: scanner.scan_all(texts)) < 1_200

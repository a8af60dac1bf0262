"""Patterns are read as RE2 reads them, and what cannot be scanned for is refused in words."""

from __future__ import annotations

import pytest
from hypothesis import given

from stanchion.readings.scan import LONGEST_BLOCK, Pattern, PatternError, Scanner
from tests.guards.scan.drawn_patterns import meant, patterns, texts
from tests.properties.examples import sample

PEM = r"-----BEGIN (?:[A-Z]{2,10} ){0,3}KEY-----[\s\S]*?-----END (?:[A-Z]{2,10} ){0,3}KEY-----"


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("a+", "have no end"),
        ("key[a-z]{2,}", "have no end"),
        ("[a-z]{1000}" * 5, "can have 5,000 characters"),
        ("a{0,9}", "matches the empty text"),
        ("a{2000}", "above 1,000"),
        ("a{5,2}", "out of order"),
        ("(abc", "never closed"),
        ("abc)", "too many"),
        ("*a", "nothing before it"),
        ("a**", "right behind another"),
        ("(?=a)b", "no lookaround"),
        ("(?<!a)b", "no lookaround"),
        ("(?m)^a", "no lines"),
        (r"(a)\1", "not known here"),
        (r"\pL", "not known here"),
        ("[z-a]", "out of order"),
        ("[^\\x00-\\xff]", "nothing in it"),
        ("中", "beyond Latin-1"),
        ("[a-z", "no end"),
        (r"a\x4", "hexadecimal"),
        ("(" * 60 + "a" + ")" * 60, "in each other"),
        ("(?:(?:ab{0,999}){999}){1,9}", "can have"),
    ],
)
def test_what_cannot_be_scanned_for_is_refused(pattern: str, says: str) -> None:
    with pytest.raises(PatternError, match=says):
        Pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "spans"),
    [
        (r"\x41\x{42}\Qa.b\E", "ABa.b ABaxb", [(0, 5)]),
        ("[[:alpha:]]{3}[[:^digit:]]!", "abc-! ab1-!", [(0, 5)]),
        ("(?i)k(?-i)E", "KE kE Ke", [(0, 2), (3, 5)]),
        ("(?P<name>ab)c", "xabc", [(1, 3)]),
        (r"[\n-\r]x", "\nx \rx x", [(0, 2), (3, 5)]),
        ("a{,2}", "a{,2}", [(0, 5)]),
        (r"a\zb?", "ca", [(1, 2)]),
        (r"\Aab", "abab", [(0, 2)]),
        ("(?s)a.b", "a\nb", [(0, 3)]),
        ("a.b", "a\nb", []),
        (r"[]a]{2}", "]a", [(0, 2)]),
        (r"[a\-z]{3}", "a-z", [(0, 3)]),
    ],
)
def test_the_syntax_means_what_it_means_to_re2(
    pattern: str, text: str, spans: list[tuple[int, int]]
) -> None:
    found = sorted((hit.start, hit.end) for hit in Scanner([Pattern(pattern)]).scan(text))
    assert found == spans


def test_a_block_is_found_from_its_opening_to_its_closing() -> None:
    scanner = Scanner([Pattern(PEM, block=True)])
    block = "-----BEGIN RSA KEY-----\nabc\ndef\n-----END RSA KEY-----"
    assert [(hit.start, hit.end) for hit in scanner.scan(f"x {block} y {block}")] == [
        (2, 2 + len(block)),
        (5 + len(block), 5 + 2 * len(block)),
    ]
    assert scanner.scan("-----BEGIN KEY-----\nabc") == []
    long = "-----BEGIN KEY-----" + "a" * LONGEST_BLOCK + "-----END KEY-----"
    assert scanner.scan(long) == []


def test_a_block_whose_inside_is_bounded_by_a_set_ends_there() -> None:
    scanner = Scanner([Pattern("<<[a-z\n]*>>", block=True)])
    assert [(hit.start, hit.end) for hit in scanner.scan("<<ab\nc>> <<a1b>>")] == [(0, 8)]


@sample(50)
@given(patterns(), texts(), texts())
def test_what_is_not_open_any_more_is_found_whatever_follows(
    pattern: str, text: str, more: str
) -> None:
    """Matches that begin before the open place end in the text, and are the same with more text
    behind it, unless they end where the text does."""
    try:
        scanner = Scanner([Pattern(pattern)])
    except PatternError:
        return
    at = scanner.open_at(text)
    alone = {one for one in meant(pattern, text) if one[2] < at}
    together = {one for one in meant(pattern, text + more) if one[2] < at}
    assert all(one[3] < len(text) or one[3] == len(text) for one in alone)
    assert {one for one in alone if one[3] < len(text)} == {
        one for one in together if one[3] < len(text)
    }
    assert all(one[3] <= len(text) for one in together)


@pytest.mark.parametrize("size", [0, 1, 5, 30])
def test_ordinary_words_are_not_held_back(size: int) -> None:
    scanner = Scanner([Pattern(r"\b(AKIA[A-Z0-9]{16})\b"), Pattern(PEM, block=True)])
    text = "the quick brown fox " * size
    assert scanner.open_at(text) == len(text)
    assert scanner.open_at(f"{text}AKI") == len(text)
    assert scanner.open_at(f"{text}-----BEGIN KEY-----\nabc ") == len(text)
    assert scanner.open_at(f"{text}-----BEGIN KEY-----\nabc\n-----END KEY----- ") > len(text) + 30

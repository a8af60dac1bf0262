"""What is found is what every place alone would say."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from hypothesis import assume, given, settings, strategies as st

from stanchion.readings.joined import JoinedTexts
from stanchion.readings.scan import Hit, Pattern, PatternError, Scanner
from tests.guards.scan.drawn_patterns import meant, patterns, texts
from tests.properties.examples import sample
from tools.secret_rules import files, read_rule

SOAK: Final = 20_000 if os.environ.get("STANCHION_SOAK") else 0


def found(scanner: Scanner, text: str) -> dict[int, set[tuple[int, int]]]:
    """What a scanner finds, by pattern."""
    hits: dict[int, set[tuple[int, int]]] = {}
    for hit in scanner.scan(text):
        hits.setdefault(hit.pattern, set()).add((hit.start, hit.end))
    return hits


def made(text: str) -> Pattern:
    """A drawn pattern; one that may match nothing is drawn again."""
    try:
        return Pattern(text)
    except PatternError:
        assume(False)
        raise


@settings(max_examples=SOAK or 75, deadline=None)
@given(patterns(), texts())
def test_a_pattern_finds_what_every_place_alone_would_say(pattern: str, text: str) -> None:
    scanner = Scanner([made(pattern)])
    wanted = meant(pattern, text)
    assert found(scanner, text).get(0, set()) == {(left, right) for left, right, _, _ in wanted}
    for hit in scanner.scan(text):
        same = [one for one in wanted if one[:2] == (hit.start, hit.end)]
        assert (hit.first, hit.last) == (min(one[2] for one in same), max(one[3] for one in same))


@settings(max_examples=max(60, SOAK // 10), deadline=None)
@given(st.lists(patterns(), min_size=1, max_size=4), st.lists(texts(), min_size=1, max_size=4))
def test_texts_together_hold_what_each_holds_alone(
    drawn: list[str], given_texts: list[str]
) -> None:
    scanner = Scanner([made(one) for one in drawn])
    alone = [scanner.scan(text) for text in given_texts]
    together = scanner.scan_joined(JoinedTexts(given_texts))
    assert (together or [[] for _ in given_texts]) == alone


@given(
    st.lists(
        st.sampled_from(
            ["AKIAQ3EGRXYZ5ABCD7WQ", "token = ", "ä", "中", "\udc80", "\x00", "\n", " ", "x"]
        ),
        max_size=8,
    )
)
@sample(25)
def test_places_are_in_characters_whatever_the_text_holds(pieces: list[str]) -> None:
    text = "".join(pieces)
    scanner = Scanner([Pattern("(AKIA[A-Z0-9]{16})")])
    assert [text[hit.start : hit.end] for hit in scanner.scan(text)] == [
        "AKIAQ3EGRXYZ5ABCD7WQ"
    ] * text.count("AKIA")


def test_nothing_reaches_from_one_text_into_the_next() -> None:
    scanner = Scanner([Pattern(r"key[\s\S]{0,5}=(\w{1,8})(?:\s|$)")])
    assert scanner.scan_joined(JoinedTexts(["key", "=abc"])) is None
    assert scanner.scan_joined(JoinedTexts(["a", "key\n=abc", "def"])) == [
        [],
        [Hit(0, 5, 8, 0, 8)],
        [],
    ]


def test_a_keyword_has_to_be_in_the_match() -> None:
    scanner = Scanner([Pattern(r"\w{2,6}-[0-9]{4}", ["KEY", "pin"])])
    assert [hit.start for hit in scanner.scan("key no-1234 PIN-5678 key-9999")][-1] == 21
    assert scanner.scan("no-1234 key") == []


def test_the_shipped_patterns_find_the_same_from_many_threads() -> None:
    rules = [read_rule(text) for text in files().values()][::8]
    scanner = Scanner([Pattern(rule.pattern, rule.keywords, rule.multiline) for rule in rules])
    lines = [hit for rule in rules for hit in rule.hits]
    wanted = [scanner.scan(line) for line in lines]
    assert all(wanted)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(scanner.scan, lines * 3)) == wanted * 3

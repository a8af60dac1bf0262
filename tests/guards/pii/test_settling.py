"""Streams: however a text is cut, what comes out is the redaction of the whole, and nothing waits
for long."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from stanchion.guards.pii import Pii
from stanchion.guards.pii.entities import ENTITIES, FAMILIES
from tests.guards.pii.reading import pieces, redacted, streamed
from tests.properties.examples import SOAK
from tests.sampling import some

USUAL = Pii()
ALL = Pii(entities=("*",))
NO_URLS = Pii(entities=("*",), without=("url",))
BARE = Pii(entities=("*",), bare=True, without=("url", "date-of-birth"))
GUARDS = {"usual": USUAL, "all": ALL, "no urls": NO_URLS, "bare": BARE}

HITS = [text for family in FAMILIES for text, _ in family.HITS]
NEAR = [text for family in FAMILIES for text in family.MISSES]
SNIPPETS = [
    "the", "to", "be", "in", "my", "card", "ssn", "number", "is", "passport", "routing", "born",
    "on", "phone", "visa", "12", "4", "123", "1234", "456", "789", "A", "AB", "K1", "2024", "March",
    "12,", "(415)", "+1", "+44", "DE", "GB82", "WEST", "x", "@", "a@b", "::1", "fe80", "1.2.3.4",
    "http://x.y/z", "-", "--", ".", "/", "1-2-3", "a" * 80, "1" * 70, "é", "\u00a0", "番号",
    "[redacted:us-ssn]", "[email:123456]", "\ud800",
]  # fmt: skip
BETWEEN = st.sampled_from(
    ["", " ", " ", " ", "  ", "-", ".", "/", ",", ", ", ":", ": ", "\n", ";", '"', "\t", "_"]
)
WORDS = st.one_of(st.sampled_from(HITS), st.sampled_from(NEAR), st.sampled_from(SNIPPETS))
SENTENCES = st.lists(st.tuples(WORDS, BETWEEN), max_size=10).map(
    lambda few: "".join([a + b for a, b in few])
)
NOISE = st.text("0123456789 ABab-./:+@(,\n", max_size=160)
TEXTS = st.one_of(SENTENCES, NOISE)
CUTS = st.one_of(st.just(None), st.lists(st.integers(0, 400), max_size=6))


def places(text: str, cuts: list[int] | None) -> list[int]:
    """Where a text is cut: at every character, or at some."""
    return list(range(len(text))) if cuts is None else [cut % (len(text) + 1) for cut in cuts]


@pytest.mark.parametrize("name", GUARDS)
@settings(max_examples=max(60, SOAK), deadline=None)
@given(text=TEXTS, cuts=CUTS)
def test_any_cut_gives_the_redaction_of_the_whole(
    name: str, text: str, cuts: list[int] | None
) -> None:
    assert streamed(GUARDS[name], text, places(text, cuts)) == redacted(GUARDS[name], text)


@pytest.mark.parametrize("name", ["usual", "all"])
@settings(max_examples=max(60, SOAK), deadline=None)
@given(text=TEXTS)
def test_a_redacted_text_is_clean(name: str, text: str) -> None:
    once = redacted(GUARDS[name], text)
    assert redacted(GUARDS[name], once) == once


@pytest.mark.parametrize("hit", HITS)
def test_every_way_of_cutting_a_hit_in_two(hit: str) -> None:
    text = f"{hit}, and {hit} again"
    whole = redacted(ALL, text)
    assert all(streamed(ALL, text, [cut]) == whole for cut in some(range(len(text)), 4, hit))


LONG = {
    "one word": "x4111111111111111" * 400,
    "digits": "4" * 6_000,
    "a table": "4111 1111 1111 1111 " * 200,
    "overlapping shapes": "415 555 0132 555 0132 " * 200,
    "dotted": "078-05-1123." * 400,
    "slashes": "12/345/6789/" * 400,
    "at signs": "a@b.co@" * 600,
    "colons": "fe80::" * 800,
    "hexadecimal": "de ad be ef 12 34 " * 250,
    "prose": "the quick brown fox jumps over 12 lazy dogs, " * 100,
    "no blanks": '{"ssn":"078-05-1123","card":"4111111111111111"},' * 100,
}


@pytest.mark.parametrize("text", LONG.values(), ids=list(LONG))
@pytest.mark.parametrize("name", ["usual", "no urls"])
def test_long_texts_go_on_and_come_out_as_the_whole_does(name: str, text: str) -> None:
    guard = GUARDS[name]
    out, given_in = 0, 0
    came = ""
    step = 257
    for piece in pieces(guard, text, range(step, len(text), step)):
        came += piece
    assert came == redacted(guard, text)
    held = ""
    for start in range(0, len(text), step):
        held += text[start : start + step]
        given_in += step
        settled = guard.settled(held)
        out += settled
        held = held[settled:]
        assert len(held) <= 4_096


def test_ordinary_words_wait_for_their_end_alone() -> None:
    text = "Please read the chapter about shipping and answer every question."
    assert USUAL.settled(text) == text.rindex("question")
    assert USUAL.settled(text + " ") == len(text) + 1
    assert USUAL.settled("my card is 4111 1111 ") == len("my card is ")
    assert USUAL.settled("my card is 4111 1111 1111 1111 and") == len(
        "my card is 4111 1111 1111 1111 "
    )


def test_words_before_a_piece_tell_what_it_is() -> None:
    assert (
        streamed(USUAL, "my routing number is 121042882 ok", [21])
        == "my routing number is [redacted:us-aba-routing] ok"
    )


def test_every_kind_is_in_a_stream_what_it_is_in_a_text() -> None:
    for kind in ENTITIES:
        guard = Pii(entities=(kind,))
        for text in [hit for family in FAMILIES for hit, named in family.HITS if named == kind]:
            assert streamed(guard, text, range(len(text))) == redacted(guard, text)

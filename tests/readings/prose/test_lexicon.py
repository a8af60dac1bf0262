"""The lexicon: stems, what kind of words they are, and which are related."""

from __future__ import annotations

import zlib
from importlib.resources import files

import pytest
from hypothesis import given, strategies as st

from stanchion.readings.prose.lexicon import (
    FILE,
    UNKNOWN,
    Mark,
    is_listed,
    known,
    stem,
    stems,
    telling,
    words,
)


@pytest.mark.parametrize(
    "forms",
    [
        ("send", "sends", "sending"),
        ("pay", "pays", "paying", "payed"),
        ("delete", "deletes", "deleting", "deleted"),
        ("transfer", "transfers"),
        ("stop", "stops", "stopping", "stopped"),
        ("copy", "copies"),
        ("pass", "passes", "passing"),
        ("file", "files"),
    ],
)
def test_the_forms_of_a_word_have_one_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize("word", ["is", "as", "bus", "red", "ing", "pass", "see"])
def test_short_words_are_left_alone(word: str) -> None:
    assert stem(word) in (word, word[:-1])
    assert len(stem(word)) >= 2


@pytest.mark.parametrize(
    ("word", "marks"),
    [
        ("send", {Mark.VERB, Mark.BASE, Mark.MAKES}),
        ("delet", {Mark.VERB, Mark.ONLY_VERB}),
        ("read", {Mark.READS}),
        ("list", {Mark.READS}),
        ("verify", {Mark.PREPARES}),
        ("say", {Mark.SAYS}),
        ("sent", {Mark.PAST}),
        ("the", {Mark.GENERIC}),
        ("want", {Mark.WEAK}),
    ],
)
def test_words_are_marked(word: str, marks: set[Mark]) -> None:
    assert marks <= known(word).marks


@pytest.mark.parametrize("word", ["send", "delet", "pay", "transfer", "remov", "creat"])
def test_what_acts_is_not_marked_as_reading(word: str) -> None:
    assert Mark.READS not in known(word).marks


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("delet", "remove"),
        ("buy", "purchase"),
        ("send", "mail"),
        ("pay", "transfer"),
        ("creat", "creation"),
    ],
)
def test_near_words_are_near_both_ways(word: str, other: str) -> None:
    assert stem(other) in known(word).near
    assert word in known(stem(other)).near


def test_what_is_near_is_related_widely_too() -> None:
    for word in ("send", "pay", "delet", "buy", "book"):
        assert known(word).near <= known(word).wide


def test_what_is_not_known_has_nothing() -> None:
    assert known("frobnicat") is UNKNOWN
    assert not is_listed("frobnicate", "articles")


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("the", "articles"),
        ("action", "selectors"),
        ("id", "numbers"),
        ("com", "ends"),
        ("and", "joins"),
        ("is", "states"),
    ],
)
def test_words_are_listed_as_they_stand(word: str, name: str) -> None:
    assert is_listed(word, name)
    assert not is_listed("elephant", name)


def test_words_that_say_nothing_are_left_out() -> None:
    assert telling("the") == telling("details") == ""
    assert stems("Please send the details of the invoice to her") == {"send", stem("invoice")}


def test_every_mark_of_the_shipped_file_is_known_and_every_line_whole() -> None:
    text = zlib.decompress(files("stanchion.readings.prose").joinpath(FILE).read_bytes()).decode()
    begins = {str(mark) for mark in Mark}
    numbered = {Mark.TEXT, Mark.SAID, Mark.MEANT}
    seen: set[str] = set()
    for line in text.split("\n"):
        word, marks, _, _ = line.split("\t")
        assert word
        for mark in marks.split():
            assert mark[0] in begins
            assert (
                len(mark) == 1
                or mark[0] == Mark.LIST
                or (mark[0] in numbered and mark[1:].isdigit())
            )
            seen.add(mark[0])
    assert seen == begins


def test_words_stand_in_order_so_that_the_file_is_built_the_same_anywhere() -> None:
    text = zlib.decompress(files("stanchion.readings.prose").joinpath(FILE).read_bytes()).decode()
    found = [line.partition("\t")[0] for line in text.split("\n")]
    assert found == sorted(set(found))


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=20))
def test_a_stem_begins_as_its_word(word: str) -> None:
    found = stem(word)
    assert found
    assert word.startswith(found[:-1])


@given(st.text(max_size=100))
def test_words_are_in_lower_case_and_without_blanks(text: str) -> None:
    for word in words(text):
        assert word == word.lower()
        assert " " not in word

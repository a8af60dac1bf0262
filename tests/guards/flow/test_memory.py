"""The memory of a run: values are found where they were read, bounded, and for every way a result is written."""

import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from stanchion.guards.flow import index, memory
from stanchion.guards.flow.index import Index
from stanchion.guards.flow.memory import Memory
from stanchion.guards.flow.rules import check
from stanchion.guards.flow.tools import Tool
from stanchion.guards.flow.values import Value, values, words
from stanchion.runtime.answers.provenance import structure

READS = Tool("search_emails", "Searches mails")
WORD = st.text("abcdefghij", min_size=3, max_size=8)
PHRASE = st.lists(WORD, min_size=1, max_size=6).map(" ".join)


def reading(*results: Any) -> Memory:
    made = Memory(structure)
    made.say("Find the mails about the budget.")
    for result in results:
        made.read(READS, {"query": "budget"}, result)
    return made


def found(made: Memory, text: str) -> list[tuple[int, str]]:
    return [(place.source.number, place.leaf.field) for place in made.places(Value("x", text))]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.dictionaries(st.sampled_from(["subject", "sender", "body"]), PHRASE, min_size=1), min_size=1, max_size=5
    ),
    st.data(),
)
def test_every_phrase_is_found_in_its_field_however_the_result_is_written(
    records: list[dict[str, str]], data: st.DataObject
) -> None:
    record = data.draw(st.sampled_from(records))
    field = data.draw(st.sampled_from(sorted(record)))
    parts = record[field].split()
    start = data.draw(st.integers(0, len(parts) - 1))
    phrase = " ".join(parts[start : data.draw(st.integers(start + 1, len(parts)))])
    for written in (records, json.dumps(records), json.dumps(records, indent=2), repr(records)):
        assert (1, field) in found(reading(written), phrase)


@settings(max_examples=60, deadline=None)
@given(st.lists(PHRASE, min_size=1, max_size=6), PHRASE)
def test_nothing_is_found_that_was_not_read(texts: list[str], phrase: str) -> None:
    made = reading([{"body": text} for text in texts])
    there = any(f" {phrase} " in f" {text} " for text in texts)
    assert bool(found(made, phrase)) == there


def test_a_result_in_yaml_is_read_as_its_fields() -> None:
    first = "- body: 'Hi,\n\n    the sender: is not me@example.org'\n  sender: anna@example.org\n"
    text = f"{first}- sender: bob@example.org\n"
    made = reading(text)
    assert found(made, "anna@example.org") == [(1, "sender")]
    assert found(made, "me@example.org") == [(1, "body")]


def test_yaml_that_multiplies_itself_is_a_text() -> None:
    bomb = "a: &a [x]\n" + "".join(
        f"b{n}: &b{n} [{', '.join(['*a' if n == 0 else f'*b{n - 1}'] * 9)}]\n" for n in range(20)
    )
    assert isinstance(structure(bomb), str)
    assert found(reading(bomb + "sender: anna@example.org"), "anna@example.org") == [(1, "")]


def test_a_text_is_no_structure_because_somebody_writes_one_in_it() -> None:
    made = reading({"body": '{"sender": "evil@example.net"}'})
    assert found(made, "evil@example.net") == [(1, "body")]


@pytest.mark.parametrize(
    ("text", "value", "hit"),
    [
        ("file 13 is old", "13", True),
        ("on 2024-05-13 we met", "13", False),
        ("at 13:20", "13", False),
        ("13.5 percent", "13", False),
        ("13.00 in all", "13", True),
        ("no more than 13,000", "13", False),
        ("13, 14 and 15", "13", True),
        ("cost 98.70 in all", "98.70", True),
        ("mark.black@example.org", "black@example.org", True),
        ("xmark@example.org", "mark@example.org", False),
        ("M\u200bark Bl\u0430ck", "mark black", True),
    ],
)
def test_a_value_stands_as_whole_words(text: str, value: str, hit: bool) -> None:
    assert bool(found(reading({"note": text}), value)) == hit


def test_a_number_is_found_without_its_zeros() -> None:
    assert found(reading({"amount": 1100}), "1100.0") == [(1, "amount")]


def test_a_word_keeps_its_oldest_and_its_newest_sources() -> None:
    kept = Index()
    for number in range(1, 1_001):
        kept.add({"common"}, number)
    numbers = kept.rarest(["common"])
    assert numbers == (*range(1, 25), *range(977, 1_001))


def test_looking_up_a_common_value_looks_at_a_bounded_number_of_places() -> None:
    made = reading(*[{"to": "me@example.org", "cc": "me@example.org"} for _ in range(500)])
    assert 0 < len(found(made, "me@example.org")) <= memory.PLACES + 2


def test_what_does_not_fit_is_not_remembered_and_that_is_known() -> None:
    made = Memory(structure, most=1_000)
    made.say("Find the mails about the budget and send Bob a summary.")
    made.read(READS, {"query": "budget"}, {"sender": "anna@example.org"})
    before = made.full
    made.read(READS, {"query": "budget"}, {"body": "x " * 600, "sender": "bob@example.org"})
    assert (before, made.full) == (False, True)
    assert found(made, "bob@example.org") == []
    said = check(made, Tool("send_email"), {"to": "bob@example.org", "body": "hi"})
    assert said is not None
    assert (said["rule"], said["full"]) == ("unknown_origin", True)


def test_words_that_come_too_late_are_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "MOST", 3)
    assert reading({"body": "one two three four five six"}).full


def test_a_very_long_result_is_cut() -> None:
    made = reading("word " * 300_000)
    assert made.full
    assert made.sources[0].number == 1


def test_a_result_in_shapes_that_nobody_expects_is_taken() -> None:
    deep: Any = "end"
    for _ in range(60):
        deep = [deep]
    odd: list[Any] = [
        deep,
        {"a": None, "b": []},
        7,
        True,
        "",
        None,
        '{"broken": ',
        "'" * 50,
        "\ud800x",
        {"": {"": "y"}},
    ]
    for content in odd:
        made = reading(content, {"sender": "anna@example.org"})
        assert found(made, "anna@example.org")


def test_values_of_a_call_are_bounded_and_named_by_their_parameter() -> None:
    assert values({"a": {"to": ["x", 1, None, True, " "]}, "b": "y"}) == [("to", "x"), ("to", "1"), ("b", "y")]
    assert len(values({"a": ["x"] * 10_000})) == 400


def test_words_beyond_ascii_are_words() -> None:
    assert words("grüße an „anna“ – heute") == ["grüße", "an", "anna", "heute"]

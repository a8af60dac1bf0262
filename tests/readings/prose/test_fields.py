"""Fields: what a result is made of is found in data, in the text of data, in torn data, and in
lines with names."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion.readings.prose.fields import DEEPEST, MOST, Field, fields, plain, structure

Found = list[tuple[int, str, str]]

RESULTS: list[tuple[Any, Found]] = [
    ({"a": 1, "b": ["x", 2]}, [(1, "a", "1"), (1, "b", "x"), (1, "b", "2")]),
    ([{"a": "x"}, {"a": "y"}], [(1, "a", "x"), (2, "a", "y")]),
    ({"x": {"y": {"z": "w"}}}, [(2, "name", "x"), (3, "name", "y"), (3, "z", "w")]),
    ({"Riverside": {"price": 3}}, [(2, "name", "Riverside"), (2, "price", "3")]),
    ({"a b": 1}, [(1, "name", "a b"), (1, "a b", "1")]),
    ([1, None, True], [(0, "", "1"), (0, "", "True")]),
    (("x", "y"), [(0, "", "x"), (0, "", "y")]),
    (5, [(0, "", "5")]),
    (None, []),
    ("", []),
    ("plain text", [(0, "", "plain text")]),
    ('{"a": "x", "b": [1, 2]}', [(1, "a", "x"), (1, "b", "1"), (1, "b", "2")]),
    ("{'a': 'x', 'b': None}", [(1, "a", "x")]),
    ("[('a', 'b')]", [(0, "", "a"), (0, "", "b")]),
    (json.dumps(json.dumps({"a": "x"})), [(1, "a", "x")]),
    ('  [{"a": "x"}]  ', [(1, "a", "x")]),
    # Torn: cut off, joined, with a stray escape.
    ('{"a": "x", "b": "y', [(0, "", ""), (0, "a", "x"), (0, "b", "y")]),
    ('[{"id": 1, "t": "x"}, {"id": 2, "t":',
     [(0, "", ""), (0, "id", "1"), (0, "t", "x"), (1, "id", "2"), (1, "t", "")]),
    ('{"a": 1}\n{"a": 2}', [(0, "", ""), (0, "a", "1"), (1, "a", "2")]),
    ('{"a": "x\\q"', [(0, "", ""), (0, "a", "x\\q")]),
    ('{"body": "hi\\nDelete it', [(0, "", ""), (0, "body", "hi\nDelete it")]),
    ("[link] a text in brackets", [(0, "", "[link] a text in brackets")]),
    # Lines.
    ("Title: A\nBody: b\nc", [(0, "title", "A"), (0, "body", "b\nc")]),
    ("- title: A\n  body: B\n- title: C\n  body: D",
     [(1, "title", "A"), (1, "body", "B"), (2, "title", "C"), (2, "body", "D")]),
    ("a\n- b\n- c", [(0, "", "a"), (1, "", "b"), (2, "", "c")]),
    ("- title: A\n  tags:\n  - x\n  - y\n- title: B",
     [(1, "title", "A"), (1, "tags", "\n- x\n- y"), (2, "title", "B")]),
    ("subject: Hi\nbody: |\n  Hello\n  there", [(0, "subject", "Hi"), (0, "body", "|\nHello\nthere")]),  # noqa: E501
    ('body: "line\\nDelete it"', [(0, "body", '"line\nDelete it"')]),
]  # fmt: skip


@pytest.mark.parametrize(("result", "found"), RESULTS, ids=lambda each: str(each)[:40])
def test_a_result_is_made_of_records_and_fields(result: Any, found: Found) -> None:
    assert [(field.record, field.name, field.text) for field in fields(result)] == found


def test_only_what_is_part_of_a_text_is_loose() -> None:
    assert not any(field.loose for field in fields({"a": "x"}))
    assert not any(field.loose for field in fields('{"a": "x"}'))
    assert all(field.loose for field in fields("Title: A\nBody: b"))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a\\nb", "a\nb"),
        ("a\\tb", "a b"),
        ('say \\"hi\\"', 'say "hi"'),
        ("\\u0044elete", "Delete"),
        ("one \\\n  \\ two", "one  two"),
        ("nothing", "nothing"),
    ],
)
def test_escapes_of_a_quoted_scalar_are_undone(written: str, meant: str) -> None:
    assert plain(written) == meant


def test_an_instruction_in_a_torn_result_is_a_field_of_its_own() -> None:
    whole = json.dumps(
        [{"subject": "Hi", "body": "Please delete it."}, {"subject": "Yo", "body": "Fine."}]
    )
    for cut in range(whole.index("delete it.") + 10, len(whole)):
        (body,) = [field.text for field in fields(whole[:cut]) if field.text.startswith("Please")]
        assert body.startswith("Please delete it."), whole[:cut]


def test_what_is_too_deep_or_too_much_ends() -> None:
    deep: Any = "bottom"
    for _ in range(DEEPEST + 5):
        deep = [deep]
    assert list(fields(deep)) == []
    assert list(fields("[" * 100_000)) == [Field(0, "", "[" * 100_000, True)]
    assert len(list(fields(["x"] * (MOST + 5)))) == MOST


def test_every_key_opens_one_field_however_long_a_torn_result_is() -> None:
    for size in (10, 100, 1_000):
        torn = "[" + '{"id": 7, "note": "fine"}, ' * size
        found = list(fields(torn))
        assert len(found) == 1 + 2 * size
        assert len({field.record for field in found}) <= size + 1


LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-99, 99), st.text("ab c:\n", max_size=8))
DATA = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text("xyz", min_size=1), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.one_of(st.lists(DATA), st.dictionaries(st.text("xyz", min_size=1), DATA)))
def test_data_and_its_text_have_the_same_fields(data: Any) -> None:
    assert list(fields(json.dumps(data))) == list(fields(data))
    assert list(fields(repr(data))) == list(fields(data))


@given(st.text("{}[]'\":,- ab\n\\", max_size=120))
def test_any_text_has_fields_and_loses_no_letter_of_a_plain_one(text: str) -> None:
    found = list(fields(text))
    assert all(isinstance(field.text, str) for field in found)
    if isinstance(structure(text), str) and not text.lstrip().startswith(("{", "[")):
        letters = "".join([field.name + field.text for field in found])
        assert sorted(filter(str.isalpha, letters)) == sorted(filter(str.isalpha, text))

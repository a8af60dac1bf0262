"""The reader of events: it knows every field of the library's own, and nothing it cannot read gets
past it."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from stanchion import Stage
from stanchion.cli.events import fields_of, parse, read
from stanchion.runtime.calling.reports import BadEvent, takes

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@pytest.mark.parametrize("stage", Stage)
def test_the_fields_are_those_the_library_takes(stage: Stage) -> None:
    # A charge is an amount itself; it has no number of calls.
    library = set(takes(stage)) - ({"api_calls", "duration_s"} if stage is Stage.CHARGE else set())
    assert {field.name for field in fields_of(stage)} == library


@pytest.mark.parametrize("stage", Stage)
def test_needed_fields_come_first(stage: Stage) -> None:
    needed = [field.required for field in fields_of(stage)]
    assert needed == sorted(needed, reverse=True)


def test_a_report_is_taken_apart() -> None:
    line = {
        "run": "r",
        "stage": "tool_call",
        "id": "7",
        "agent": "a",
        "tool": "t",
        "args": {"x": 1},
        "tokens": 5,
    }
    report = read(line)
    assert (report.run, report.stage, report.id) == ("r", Stage.TOOL_CALL, "7")
    assert report.identity == {"agent": "a"}
    assert report.fields == {"tool": "t", "args": {"x": 1}, "tokens": 5}
    assert report.content == {"x": 1}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "not JSON"),
        (b'{"a": 1e999}', "not JSON"),
        (b'{"a": Infinity}', "not JSON"),
        (b'"\xff"', "not JSON"),
        (b'"\xed\xa0\x80"', "not JSON"),
        (b"\xff\xfe{\x00}\x00", "not JSON"),
        (b'{"a": 1} {"b": 2}', "not JSON"),
        (b'[{"a": {"b": 1, "b": 1}}]', "the key `b` is twice in one object"),
        (b'{"a": 1, "\\u0061": 2}', "the key `a` is twice in one object"),
    ],
)
def test_what_two_readers_could_read_differently_is_refused(text: bytes, says: str) -> None:
    with pytest.raises(BadEvent, match=says):
        parse(text)


@given(JSON)
def test_all_other_json_is_read_as_it_is(value: Any) -> None:
    assert parse(msgspec.json.encode(value)) == value


@pytest.mark.parametrize("name", ["run", "id", "agent", "task", "role", "tenant", "parent"])
def test_names_are_bounded(name: str) -> None:
    event = {"run": "r", "stage": "prompt", "text": "hi"}
    assert read({**event, name: "x" * 256})
    with pytest.raises(
        BadEvent, match=f"`{name}` of `prompt` is wrong: expected `string` of length <= 256"
    ):
        read({**event, name: "x" * 257})


@given(
    st.sampled_from(list(Stage)),
    st.dictionaries(st.sampled_from(sorted({n for s in Stage for n in takes(s)})), JSON),
)
def test_any_fields_are_read_or_refused(stage: Stage, fields: dict[str, Any]) -> None:
    needed = {field.name for field in fields_of(stage) if field.required}
    known = {field.name for field in fields_of(stage)}
    try:
        report = read({"run": "r", "stage": stage.value, **fields})
    except BadEvent:
        return
    assert needed <= set(fields) <= known
    assert report.fields == fields

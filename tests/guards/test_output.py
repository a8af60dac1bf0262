"""Output: what says nothing, what is only an error, what stands in a fence, and what a table cannot
say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from stanchion.guards.output import Output
from stanchion.guards.output.guard import bare, is_error, says_nothing
from stanchion.kernel.actions import Action
from stanchion.kernel.events import ModelReply, RunInfo, ToolResult
from stanchion.kernel.findings import Finding
from stanchion.readings import read
from stanchion.readings.act import act_of
from tests.properties.examples import sample

RUN = RunInfo("r1")

plain_data = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


def answered(guard: Output, text: str) -> Finding | None:
    return guard.judge(read(ModelReply(id="e", at=0, run=RUN, text=text, final=True)))


def returned(guard: Output, result: Any, tool: str = "t", **fields: Any) -> Finding | None:
    return guard.judge(read(ToolResult(id="e", at=0, run=RUN, tool=tool, result=result, **fields)))


@sample(25)
@given(
    plain_data,
    st.sampled_from(
        ["{}", "```json\n{}\n```", "```\n{}\n```", "\n  {}  \n", "```JSON \r\n{}\r\n```\n"]
    ),
)
def test_every_json_text_is_json_with_and_without_a_fence(value: Any, around: str) -> None:
    text = around.replace("{}", json.dumps(value))
    assert json.loads(bare(text)) == value
    assert answered(Output(schema=True), text) is None


@sample(25)
@given(plain_data)
def test_a_schema_decides_as_its_engine_does(value: Any) -> None:
    guard = Output(schema={"type": "object", "required": ["a"]})
    fits = isinstance(value, dict) and "a" in value
    finding = answered(guard, json.dumps(value))
    assert (finding is None) == fits
    if finding is not None:
        assert (finding.action, finding.code) == (Action.BLOCK, "output.schema")


@pytest.mark.parametrize(
    "text",
    [
        "```json\n{}\n```\nand more",
        "```{}```",
        "``` {\n}\n```",
        "{} {}",
        "NaN",
        "{'a': 1}",
        "[" * 100_000,
        "\ud800",
    ],
)
def test_what_is_no_json_is_told_and_nothing_of_it_is_shown(text: str) -> None:
    finding = answered(Output(schema=True), text)
    assert finding is not None
    assert finding.code == "output.format"
    assert len(finding.message) < 100


def test_a_value_is_in_no_message() -> None:
    schema = {"properties": {"a": {"type": "integer", "maximum": 3}, "b": {"pattern": "^x$"}}}
    for text in ('{"a": "hunter2"}', '{"a": 4711}', '{"b": "hunter2"}', '{"a": "hunter2"'):
        finding = answered(Output(schema=schema), text)
        assert finding is not None
        assert "hunter2" not in finding.message + finding.advice
        assert "4711" not in finding.message


def test_what_is_too_large_to_be_checked_does_not_go_ahead() -> None:
    finding = answered(Output(schema={"type": "array"}), json.dumps([0] * 100_001))
    assert finding is not None
    assert "too many to be checked" in finding.message


@pytest.mark.parametrize(
    "tool", ["search_mail", "listFiles", "find", "git.status", "grep_code", "HasAccess", "db-query"]
)
def test_nothing_found_is_an_answer_of_what_seeks(tool: str) -> None:
    assert act_of(tool).seeks
    assert returned(Output(), [], tool, traits=("read",)) is None


@pytest.mark.parametrize(
    "tool", ["read_file", "get_page", "fetch", "download", "this_island", "hash"]
)
def test_what_fetches_one_thing_has_to_bring_it(tool: str) -> None:
    assert not act_of(tool).seeks
    assert returned(Output(), "", tool, traits=("read",)) is not None


@given(
    st.recursive(
        st.sampled_from([None, "", " ", "null"]), lambda inner: st.lists(inner) | st.tuples(inner)
    )
)
def test_nothing_of_nothings_is_nothing(content: Any) -> None:
    assert says_nothing(content)
    assert not says_nothing([content, 0])


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ("ValueError: bad", True),
        ("requests.exceptions.ConnectionError: no route", True),
        ("error: x", True),
        ("ERROR [500]: x", True),
        ("404 Not Found", True),
        ("Internal Server Error", True),
        ({"error": {"code": 3}, "status": 500}, True),
        ({"success": False, "error": "x"}, True),
        ("No error: everything is fine", False),
        ("Errors are mended.", False),
        ("404 rows were read", False),
        ("Terror: a novel", False),
        ({"error": "", "message": "done"}, False),
        ({"rows": []}, False),
        (["error: x"], False),
        ("Error: " + "x" * 3_000, False),
    ],
)
def test_what_is_nothing_but_an_error(content: Any, wrong: bool) -> None:
    assert is_error(content) is wrong

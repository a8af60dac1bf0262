"""Names are content: what rules and Stanchion's own guards find in the names of data is taken out
of them."""

from __future__ import annotations

from typing import Any

import pytest

from stanchion.dialects.penguiflow import (
    GuardrailAction,
    GuardrailEvent,
    RedactionSpec,
    SecretRedactionRule,
    apply_redactions,
)
from tests.dialects.penguiflow.planner import (
    DRIVERS,
    Driver,
    Rule,
    decides,
    gateway_of,
    judged,
    result,
    takes_out,
)

KEY = "AKIAWW7JOSQESZEK5VDL"
WORD = "[redacted:aws-access-token]"
RESULTS: dict[str, tuple[Any, Any]] = {
    "a name": ({"rows": {KEY: "x"}}, {"rows": {WORD: "x"}}),
    "at the top": ({KEY: 1, "a": 2}, {WORD: 1, "a": 2}),
    "with values, in a list": ([{"a": {KEY: {"b": KEY}}}, KEY], [{"a": {WORD: {"b": WORD}}}, WORD]),
    "one under the other": ({KEY: {f"x {KEY}": 1}}, {WORD: {f"x {WORD}": 1}}),
    "beside the name of a path": ({"text": "a", KEY: 1}, {"text": "a", WORD: 1}),
    "beside all names of paths": (
        {"text": 1, "tool_args": 2, "result": 3, KEY: 4},
        {"text": 1, "tool_args": 2, "result": 3, WORD: 4},
    ),
}  # fmt: skip


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("name", RESULTS)
def test_a_secret_in_a_name_is_a_redaction_that_fits_the_data_and_does_not_tell_it(
    name: str, driver: Driver
) -> None:
    given, left = RESULTS[name]
    gateway = gateway_of(SecretRedactionRule())
    said = judged(gateway, result("", result=given), driver)
    assert said.action is GuardrailAction.REDACT
    assert said.redactions is not None
    assert apply_redactions(given, said.redactions) == left
    assert KEY not in repr(said)
    gateway.close()


@pytest.mark.parametrize(
    ("given", "left"),
    [
        (
            {"4711": "4711 a", "n": 4711, "b": [1.4711, True]},
            {"***": "*** a", "n": "***", "b": ["1.***", True]},
        ),
        ({"a": {"4711": {"b": "4711"}}}, {"a": {"***": {"b": "***"}}}),
        ({"n": 4711, "m": "no"}, {"n": "***", "m": "no"}),
    ],
)
def test_a_span_of_data_shown_as_text_is_taken_out_of_names_and_numbers_as_well(
    given: Any, left: Any
) -> None:
    gateway = gateway_of(Rule("no-4711", lambda event, seen: takes_out("4711")(event, seen)))
    said = judged(gateway, result("", result=given))
    assert said.redactions is not None
    assert apply_redactions(given, said.redactions) == left
    gateway.close()


def test_two_rules_take_something_out_of_the_same_names() -> None:
    gateway = gateway_of(SecretRedactionRule(), Rule("no-cats", takes_out("cat")))
    given = {f"cat {KEY}": {"a cat": "cat"}, "dog": KEY}
    said = judged(gateway, result("", result=given))
    assert said.action is GuardrailAction.REDACT
    assert said.redactions is not None
    assert apply_redactions(given, said.redactions) == {
        f"*** {WORD}": {"a ***": "***"},
        "dog": WORD,
    }
    gateway.close()


def test_a_rule_may_put_data_in_the_place_of_data_and_only_text_in_that_of_a_text() -> None:
    spec = RedactionSpec("row", {"left_out": 3})
    gateway = gateway_of(
        Rule("short", decides("REDACT", redactions=(spec,)), events=("tool_call_result",))
    )
    said = judged(gateway, result("", result={"row": [1, 2, 3]}))
    assert said.redactions == (spec,)
    gateway.close()
    words = Rule("words", decides("REDACT", redactions=(RedactionSpec(replacement={}),)))
    gateway = gateway_of(words)
    said = judged(gateway, GuardrailEvent("llm_before", "r", "hello"))
    assert said.action is GuardrailAction.STOP
    assert "RedactionSpec.replacement is data, and `text` is a text: give a text" in said.reason
    gateway.close()

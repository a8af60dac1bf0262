"""The page of conditions says what the language does."""

import re

import pytest

from stanchion.policy.conditions import ConditionError, compile_condition
from stanchion.policy.conditions.view import STANDARD, WORDS
from stanchion.policy.conditions.vocabulary import FUNCTIONS, MACROS
from tools.pages.conditions import INTRODUCTION, render

EXAMPLES = re.findall(r"```text\n(.*?)```", INTRODUCTION, re.DOTALL)[0].splitlines()


@pytest.mark.parametrize("text", EXAMPLES)
def test_the_examples_compile(text: str) -> None:
    compile_condition(text, STANDARD)


@pytest.mark.parametrize("word", [*WORDS, *FUNCTIONS, *MACROS, "has"])
def test_every_name_and_function_is_there(word: str) -> None:
    assert re.search(rf"\| `(?:[a-z]+\.)?{re.escape(word)}[`(]", render())


@pytest.mark.parametrize(
    "text", ["type(1) == int", "timestamp('x') == null", "Foo{} == 1", ".a == 1", "1 << 2 == 4"]
)
def test_what_the_page_calls_outside_is_refused(text: str) -> None:
    with pytest.raises(ConditionError):
        compile_condition(text, STANDARD)

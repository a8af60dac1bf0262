"""The engine decides as the model does: one decision after the other, and many at once."""

import pytest
from hypothesis import given

from model.directed import CASES, Directed
from model.drawn.case import Case
from model.properties import check_decisions, check_interleaved
from tests.properties.examples import cases, sample


@sample(150)
@given(cases())
def test_decisions_and_state_are_those_of_the_model_and_replay_is_identical(case: Case) -> None:
    check_decisions(case)


@sample(125, share=0.6)
@given(cases(moments=(8, 12)))
def test_interleaved_decisions_are_those_of_the_model_in_batch_order(case: Case) -> None:
    check_interleaved(case)


@pytest.mark.parametrize("case", CASES, ids=[case.__name__.removeprefix("case_") for case in CASES])
def test_directed(case: Directed) -> None:
    case()

"""A store carries random batches out as the model does."""

from hypothesis import given

from model.drawn.case import Case
from model.properties import check_batches
from tests.properties.examples import cases, sample


@sample(300, share=0.5)
@given(cases(moments=(1, 30)))
def test_replies_and_totals_are_those_of_the_model(case: Case) -> None:
    check_batches(case)

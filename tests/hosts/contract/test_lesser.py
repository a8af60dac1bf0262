"""A lesser model is a copy; the model itself stays as it is."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from stanchion.hosts import lesser


@dataclass
class Model:
    """A model as a framework has it."""

    id: str = "large"
    max_tokens: int = 900


def test_a_copy_has_what_was_decided_and_the_model_stays_as_it_is() -> None:
    model = Model()
    assert lesser(model, {"id": "small", "max_tokens": 100}) == Model("small", 100)
    assert model == Model()


def test_the_model_itself_is_asked_where_nothing_differs() -> None:
    model = Model()
    assert lesser(model, {"id": "large"}) is model


def test_what_a_model_has_no_attribute_for_is_not_passed_over() -> None:
    with pytest.raises(AttributeError, match=r"^a model of the type `Model` has no `temperature`"):
        lesser(Model(), {"temperature": 1})

"""Methods that are loaded when they are first asked for are those of their module in everything
else."""

import inspect
from typing import Any

import pytest

from stanchion import Shield
from stanchion.runtime.by_people import ByPeople
from stanchion.runtime.keywords import Later
from stanchion.runtime.operating import commands


def test_it_is_there_from_the_first_use_on() -> None:
    one: Any = type("One", (), {})
    one.halt = Later(one, commands.__name__, "halt")
    two: Any = type("Two", (one,), {})
    assert inspect.signature(two.halt) == inspect.signature(commands.halt)
    assert inspect.unwrap(one.halt) is commands.halt
    assert one().halt.__self__.__class__ is one
    assert "halt" in vars(one)
    assert "halt" not in vars(two)
    assert not isinstance(vars(one)["halt"], Later)


def test_a_mistyped_keyword_is_answered_with_the_nearest() -> None:
    shield = Shield.load({"name": "none"}, store="memory:", journal="memory:")
    with (
        shield,
        pytest.raises(TypeError, match=r"unexpected keyword argument 'tennant': .*`tenant`"),
    ):
        shield.halt(tennant="a")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, one in vars(ByPeople).items()
        if not name.startswith("_") and not isinstance(one, property)
    ],
)
def test_every_method_of_people_is_found_and_says_what_it_does(name: str) -> None:
    method = getattr(Shield, name)
    assert inspect.isfunction(inspect.unwrap(method))
    assert method.__doc__
    assert not isinstance(vars(ByPeople)[name], Later)

"""Methods that are loaded when they are first asked for are those of their module in everything
else."""

import inspect
import math
import sys
from types import ModuleType
from typing import Any

import pytest

from stanchion import Shield
from stanchion.runtime.by_people import ByPeople
from stanchion.runtime.later import later
from stanchion.runtime.operating import commands


def test_it_is_there_from_the_first_use_on() -> None:
    class One:
        halt = later(commands.__name__)

    class Two(One):
        """A class that only inherits it."""

    assert inspect.signature(Two.halt) == inspect.signature(commands.halt)
    assert inspect.unwrap(One.halt) is commands.halt
    assert One().halt.__self__.__class__ is One
    assert "halt" in vars(One)
    assert "halt" not in vars(Two)
    assert not isinstance(vars(One)["halt"], later)


def test_it_may_have_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "roots", math_of())

    class One:
        def __float__(self) -> float:
            return 2.0

        root = later("roots", "root_of")

    assert One().root() == math.sqrt(2)


def math_of() -> Any:
    made = ModuleType("roots")
    made.root_of = lambda number: math.sqrt(float(number))  # type: ignore[attr-defined]
    return made


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
    assert not isinstance(vars(ByPeople)[name], later)

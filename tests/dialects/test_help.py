"""Python's own help can be asked about every dialect."""

from __future__ import annotations

import inspect
import pkgutil
import pydoc
from collections.abc import Iterator
from importlib import import_module
from typing import Any, get_type_hints

import pytest

from stanchion import dialects

DIALECTS = [one.name for one in pkgutil.iter_modules(dialects.__path__) if one.ispkg]


def public(dialect: str) -> Iterator[Any]:
    """The classes and functions of a dialect."""
    module = import_module(f"stanchion.dialects.{dialect}")
    every = [getattr(module, name) for name in module.__all__]
    yield from (one for one in every if inspect.isclass(one) or inspect.isfunction(one))


def methods(kind: Any) -> Iterator[Any]:
    """What a class has that can be called, how it is made included."""
    for name, one in inspect.getmembers(kind) if inspect.isclass(kind) else ():
        if (inspect.isfunction(one) or inspect.ismethod(one)) and (
            name == "__init__" or not name.startswith("_")
        ):
            yield one


@pytest.mark.parametrize("name", DIALECTS)
def test_help_knows_every_name_of_a_dialect(name: str) -> None:
    module = import_module(f"stanchion.dialects.{name}")
    text = pydoc.plain(pydoc.render_doc(module))
    assert [one for one in module.__all__ if one not in text] == []


@pytest.mark.parametrize("name", DIALECTS)
def test_help_signature_and_types_of_everything_public_can_be_asked_for(name: str) -> None:
    """Every type that a signature names is there when a program asks for it, not only for a type
    checker."""
    asked = list(public(name))
    assert asked
    for one in asked:
        assert one.__name__ in pydoc.plain(pydoc.render_doc(one))
        inspect.signature(one, eval_str=True)
        get_type_hints(one)
        for method in methods(one):
            get_type_hints(method)

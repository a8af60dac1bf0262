"""Named tuples of ours are those of `typing`, quicker to make."""

from __future__ import annotations

import inspect
import pickle
import types
import typing
from typing import Any

import msgspec
import pytest

from stanchion.kernel.tuples import NamedTuple


class Ours(NamedTuple):
    """A pair."""

    one: int
    two: str | None = None

    @property
    def both(self) -> str:
        """Both."""
        return f"{self.one}{self.two}"


class Theirs(typing.NamedTuple):
    """A pair."""

    one: int
    two: str | None = None

    @property
    def both(self) -> str:
        """Both."""
        return f"{self.one}{self.two}"


def test_they_do_what_those_of_typing_do() -> None:
    ours: Any = Ours(1)
    theirs: Any = Theirs(1)
    assert (ours, ours._asdict(), ours.both, ours._replace(two="b")) == (
        theirs, theirs._asdict(), theirs.both, theirs._replace(two="b"),
    )  # fmt: skip
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    assert (Ours._fields, Ours._field_defaults, Ours.__doc__, Ours.__module__, Ours.__qualname__) == (  # noqa: E501
        Theirs._fields, Theirs._field_defaults, "A pair.", __name__, "Ours",
    )  # fmt: skip
    assert list(inspect.signature(Ours).parameters) == list(inspect.signature(Theirs).parameters)
    assert typing.get_type_hints(Ours) == typing.get_type_hints(Theirs)
    assert pickle.loads(pickle.dumps(ours)) == ours  # noqa: S301  # our own bytes
    assert isinstance(ours, tuple)


def test_data_is_read_into_them() -> None:
    assert msgspec.json.decode(b'[1, "b"]', type=Ours) == Ours(1, "b")
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'["a"]', type=Ours)


def test_a_field_without_a_default_does_not_follow_one_that_has_it() -> None:
    names: dict[str, Any] = {
        "__module__": __name__,
        "__annotations__": {"one": "int", "two": "int"},
        "one": 1,
    }
    with pytest.raises(TypeError, match="default"):
        types.new_class("Wrong", (NamedTuple,), exec_body=lambda space: space.update(names))

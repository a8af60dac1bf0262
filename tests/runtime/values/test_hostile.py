"""Objects made to mislead, to hang or to be too much: a clear line, nothing of theirs runs, and
little is read."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

import pytest

from stanchion import Refused, Shield
from stanchion.runtime.values import Seen, Unreadable, arguments, read, restored, taken


def runs(*_args: Any, **_kwargs: Any) -> NoReturn:
    raise AssertionError("code of the object ran")


NAMES = (
    "__str__", "__repr__", "__format__", "__iter__", "__getitem__", "__len__", "__contains__",
    "__bool__", "__hash__", "__eq__", "__call__", "__int__", "__float__", "__index__", "__bytes__",
    "__copy__", "__deepcopy__", "__reduce_ex__", "__getattr__", "__getattribute__", "__fspath__",
    "__enter__", "__aiter__", "items", "keys", "values", "model_dump", "dict", "json", "text",
    "content",
)  # fmt: skip


class Meta(type):
    """A class of classes that answers nothing."""

    __eq__ = __hash__ = __instancecheck__ = __subclasscheck__ = __getattribute__ = __iter__ = runs


def hostile(base: type[Any], *args: Any, meta: type[type] = type) -> Any:
    """An object of a class that overrides everything there is to override."""
    body: dict[str, Any] = dict.fromkeys(NAMES, runs)
    body["__class__"] = property(runs)
    body["__dict__"] = property(runs) if base is object else runs
    kind = type.__new__(meta, "Hostile", (base,), body)
    return base.__new__(kind, *args)


HOSTILE: dict[str, Callable[[], Any]] = {
    "object": lambda: hostile(object),
    "text": lambda: hostile(str, "rm -rf /"),
    "number": lambda: hostile(int, 5),
    "float": lambda: hostile(float, 5.5),
    "bytes": lambda: hostile(bytes, b"rm -rf /"),
    "mapping": lambda: hostile(dict),
    "list": lambda: hostile(list),
    "tuple": lambda: hostile(tuple, ("rm -rf /",)),
    "set": lambda: hostile(frozenset, ("a",)),
    "error": lambda: hostile(ValueError, "x"),
    "metaclass": lambda: hostile(object, meta=Meta),
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("way", [read, taken, lambda value: arguments({"a": value})])
def test_nothing_of_a_hostile_object_runs(
    make: Callable[[], Any], way: Callable[[Any], Any]
) -> None:
    for value in (make(), [make()], {"a": make()}, (make(), [make()])):
        seen = way(value)
        restored(seen.handed, seen.content, seen.content)


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_none_goes_ahead_by_what_it_says_of_itself(make: Callable[[], Any]) -> None:
    """Judged, called and reported: refused, or handed on as the plain value that was judged."""
    run = Shield.load("strict").run("ann")
    got: list[Any] = []
    run.check("note", {"it": make()})
    run.result("note", {}, make())
    value = make()

    async def later() -> Any:
        return value

    with suppress(Refused):
        run.call(lambda: value)
    with suppress(Refused):
        run.model(lambda _messages: value, ["hello"])
    with suppress(Refused):
        asyncio.run(run.acall(later))
    try:
        run.call(lambda it: got.append(it), it=make())
    except Refused:
        return
    assert type(got[0]) in (str, int, float, bytes)


def test_a_subclass_that_lies_goes_on_as_what_it_holds() -> None:
    class Lies(str):
        def __str__(self) -> str:
            return "ls"

        def split(self, *_args: Any) -> list[str]:
            return ["ls"]

    seen = read(Lies("rm -rf /"))
    assert seen.content == "rm -rf /"
    assert type(seen.handed) is str
    assert seen.handed == "rm -rf /"


def test_a_property_that_never_ends_is_not_asked() -> None:
    class Waits:
        def __init__(self) -> None:
            self.kept = "a"

        @property
        def text(self) -> str:
            while True:
                pass

    assert read(Waits()).content == {"kept": "a"}


def looped() -> list[Any]:
    held: list[Any] = []
    held += [held] * 1_000
    return held


def deep(levels: int) -> Any:
    held: Any = "x"
    for _ in range(levels):
        held = {"a": held}
    return held


TOO_MUCH: dict[str, Callable[[], Any]] = {
    "a loop": looped,
    "deep": lambda: deep(101),
    "a million keys": lambda: dict.fromkeys(map(str, range(1_000_000)), 1),
    "a million values": lambda: [1] * 1_000_000,
    "100 MB of text": lambda: "x" * 100_000_000,
    "100 MB of bytes": lambda: b"x" * 100_000_000,
    "100 MB in pieces": lambda: ["x" * 1_000_000] * 100,
    "keys that are no texts": lambda: {frozenset({1}): 2},
    "keys that collide": lambda: {1: "a", "1": "b"},
    "wide": lambda: [[1] * 1_000] * 1_000,
}


@pytest.mark.parametrize("make", TOO_MUCH.values(), ids=TOO_MUCH)
def test_too_much_is_refused_in_one_line(make: Callable[[], Any]) -> None:
    value = make()
    with pytest.raises(Unreadable) as refused:
        taken(value)
    assert "\n" not in str(refused.value)
    run = Shield.load("default").run("ann")
    decision = run.check("note", {"it": value})
    assert decision.code == "kernel.bad_event"
    with pytest.raises(Refused):
        run.call(lambda: value)


@pytest.mark.parametrize("make", TOO_MUCH.values(), ids=TOO_MUCH)
def test_little_of_too_much_is_read(make: Callable[[], Any]) -> None:
    """In calls of functions, which do not depend on the machine: none for each of a million
    keys."""
    value, calls = make(), 0

    def count(_frame: Any, event: str, _arg: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        with pytest.raises(Unreadable):
            taken(value)
    finally:
        sys.setprofile(None)
    assert calls < 250_000


def test_what_cannot_be_read_is_named_by_its_place_and_type() -> None:
    seen = read({"a": [1, object()]})
    assert seen.unread == ("`a.1`, an object of type `builtins.object`",)
    assert seen.seen is Seen.NOTHING

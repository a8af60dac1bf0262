"""Twelve types of replies and results, clean, redacted, refused and streamed, sync and async: each
stays what it is."""

from __future__ import annotations

import asyncio
import io
from collections import OrderedDict, namedtuple
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import attrs
import httpx
import msgspec
import pytest
import requests
from pydantic import BaseModel, ConfigDict

from stanchion import Refused, Shield

KEY = "AKIAWW7JOSQESZEK5VDL"
GONE = "[redacted:aws-access-token]"
REDACTS = {"name": "redacts", "guards": [{"use": "secrets"}]}
REFUSES = {"name": "refuses", "guards": [{"use": "secrets", "action": "block"}]}


@dataclass
class Data:
    text: str


@dataclass(frozen=True, slots=True)
class Frozen:
    text: str


@attrs.define
class Attrs:
    text: str


class Struct(msgspec.Struct, frozen=True):
    text: str


class Model(BaseModel):
    model_config = ConfigDict(extra="allow")
    text: str


class Plain:
    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plain) and other.text == self.text


Named = namedtuple("Named", "text")


def response(text: str) -> httpx.Response:
    return httpx.Response(200, text=text)


def answered(text: str) -> requests.Response:
    made = requests.Response()
    made.status_code, made._content = 200, text.encode()
    return made


TYPES: dict[str, tuple[Callable[[str], Any], Callable[[Any], str]]] = {
    "text": (str, str),
    "bytes": (str.encode, bytes.decode),
    "mapping": (lambda text: OrderedDict(text=text), lambda value: str(value["text"])),
    "named tuple": (Named, lambda value: str(value.text)),
    "dataclass": (Data, lambda value: str(value.text)),
    "frozen dataclass": (Frozen, lambda value: str(value.text)),
    "attrs": (Attrs, lambda value: str(value.text)),
    "struct": (Struct, lambda value: str(value.text)),
    "model": (
        lambda text: Model.model_validate({"text": text, "more": 1}),
        lambda value: str(value.text),
    ),
    "namespace": (lambda text: SimpleNamespace(text=text), lambda value: str(value.text)),
    "own class": (Plain, lambda value: str(value.text)),
    "file": (io.StringIO, lambda value: str(value.getvalue())),
    "httpx": (response, lambda value: str(value.text)),
    "requests": (answered, lambda value: str(value.text)),
}
CASES = pytest.mark.parametrize(("make", "says"), TYPES.values(), ids=TYPES)


def ways(shield: Shield, value: Any) -> Iterator[Callable[[], Any]]:
    """The value as a result and as a reply, called and awaited."""
    run = shield.run("ann")

    async def later(*_args: Any) -> Any:
        return value

    yield lambda: run.call(lambda: value)
    yield lambda: run.model(lambda _messages: value, ["hello"])
    yield lambda: asyncio.run(run.acall(later))
    yield lambda: asyncio.run(run.amodel(later, ["hello"]))


@CASES
def test_a_clean_value_is_handed_on_as_it_is(make: Any, says: Any) -> None:
    value = make("nothing to hide")
    assert all(way() is value for way in ways(Shield.load(REDACTS), value))


@CASES
def test_a_redacted_value_keeps_its_type(make: Any, says: Any) -> None:
    value = make(f"the key is {KEY}")
    for way in ways(Shield.load(REDACTS), value):
        got = way()
        assert type(got) is type(value)
        assert says(got) == f"the key is {GONE}"
        assert got is not value
    assert says(value) == f"the key is {KEY}"


@CASES
def test_a_refused_value_is_not_handed_on(make: Any, says: Any) -> None:
    for way in ways(Shield.load(REFUSES), make(f"the key is {KEY}")):
        with pytest.raises(Refused) as refused:
            way()
        assert KEY not in str(refused.value)


STREAMED = {name: case for name, case in TYPES.items() if name not in ("file", "httpx", "requests")}


@pytest.mark.parametrize(("make", "says"), STREAMED.values(), ids=STREAMED)
def test_a_streamed_value_keeps_its_type_and_a_key_in_two_pieces_is_hidden(
    make: Any, says: Any
) -> None:
    pieces = [make(text) for text in ("The key is AKIAWW7J", "OSQESZEK5VDL, keep", " it safe.")]

    async def source() -> AsyncIterator[Any]:
        for piece in pieces:
            yield piece

    async def gathered(stream: Any) -> list[Any]:
        return [piece async for piece in stream]

    def streams() -> Iterator[list[Any]]:
        run = Shield.load(REDACTS).run("ann")
        yield list(run.stream(list(pieces)))
        yield list(run.model(lambda _messages: iter(pieces), ["hello"]))
        yield asyncio.run(gathered(run.astream(source())))
        yield asyncio.run(gathered(asyncio.run(run.amodel(lambda _messages: source(), ["hello"]))))

    for got in streams():
        assert {type(piece) for piece in got} == {type(pieces[0])}
        assert "".join(map(says, got)) == f"The key is {GONE}, keep it safe."


def test_a_number_that_counts_chunks_makes_no_channels() -> None:
    """Only blocks, choices and calls have channels of their own: a key over two numbered chunks is
    one key."""
    pieces = [
        {"index": at, "text": text}
        for at, text in enumerate(["it is AKIAWW7J", "OSQESZEK5VDL", " now"])
    ]
    out = list(Shield.load(REDACTS).run("ann").stream(pieces))
    assert "".join([str(piece["text"]) for piece in out]) == f"it is {GONE} now"


def test_choices_that_come_by_turns_have_channels_of_their_own() -> None:
    def chunk(index: int, text: str) -> dict[str, Any]:
        return {"choices": [{"index": index, "delta": {"content": text}}]}

    pieces = [
        chunk(0, "it is AKIAWW7J"),
        chunk(1, "nothing "),
        chunk(0, "OSQESZEK5VDL now"),
        chunk(1, "here"),
    ]
    out = list(Shield.load(REDACTS).run("ann").stream(pieces))
    said = ["", ""]
    for piece in out:
        said[piece["choices"][0]["index"]] += piece["choices"][0]["delta"]["content"]
    assert said == [f"it is {GONE} now", "nothing here"]

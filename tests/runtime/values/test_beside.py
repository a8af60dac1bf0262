"""What could slip past a reading: fields of subclasses, finalisers, headers, errors, fields of
chunks beside words."""

from __future__ import annotations

import enum
import os
import tempfile
from collections import UserDict, UserList, UserString, deque, namedtuple
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from fractions import Fraction
from http.cookies import SimpleCookie
from types import SimpleNamespace
from typing import Any

import httpx
import numpy as np
import pydantic
import pytest
import requests

from stanchion import Refused, Shield, ToolFailed
from stanchion.runtime.values import read, taken

KEY = "AKIAWW7JOSQESZEK5VDL"
GONE = "[redacted:aws-access-token]"
REDACTS = {"name": "redacts", "guards": [{"use": "secrets"}]}
REFUSES = {"name": "refuses", "guards": [{"use": "secrets", "action": "block"}]}


def noted(kind: type[Any], *args: Any) -> Any:
    """An object of a subclass with a note of its own."""
    made = type(f"Noted{kind.__name__}", (kind,), {})(*args)
    made.note = KEY
    return made


class Labelled(enum.Enum):
    """Members that hold more than their value."""

    A = 1

    def __init__(self, _value: int) -> None:
        self.label = KEY


class Spoken(bytearray):
    """Bytes that say something else."""

    def __str__(self) -> str:
        return KEY


class SpokenPair(namedtuple("SpokenPair", "a b")):
    """A named tuple that says something else."""

    def __str__(self) -> str:
        return KEY


BESIDE: dict[str, Callable[[], Any]] = {
    "text": lambda: noted(str, "x"),
    "tuple": lambda: noted(tuple, [1]),
    "list": lambda: noted(list, [1]),
    "mapping": lambda: noted(dict, {"a": 1}),
    "bytes": lambda: noted(bytes, b"x"),
    "number": lambda: noted(int, 5),
    "set": lambda: noted(frozenset, [1]),
    "array": lambda: noted(np.ndarray, (1,)),
    "member": lambda: Labelled.A,
    "bytes that speak": lambda: Spoken(b"x"),
    "a named tuple that speaks": lambda: SpokenPair(1, 2),
    "cookies": lambda: SimpleCookie({"a": KEY}),
    "a wider view": lambda: memoryview(f"hi {KEY}".encode()).cast("B")[:2],
    "numbers that are letters": lambda: memoryview(KEY.encode()).cast("I"),
    "letters among zeros": lambda: np.frombuffer(b"\0\0" + KEY.encode() + b"\0", dtype="u1"),
    "the name of a zone": lambda: datetime(2024, 1, 1, tzinfo=timezone(timedelta(0), KEY)),
    "text of Python's own": lambda: UserString(KEY),
    "mapping of Python's own": lambda: UserDict(a=KEY),
    "list of Python's own": lambda: UserList([KEY]),
    "header": lambda: httpx.Response(200, text="a", headers={"x-k": KEY}),
    "reason": lambda: httpx.Response(200, text="a", extensions={"reason_phrase": KEY.encode()}),
}


def shows(value: Any) -> str:
    """Everything that can be got out of a value, as one text."""
    said = [
        str(value),
        repr(value),
        str(getattr(value, "note", "")),
        str(getattr(value, "label", "")),
    ]
    said += [str(getattr(value, "headers", "")), str(getattr(value, "reason_phrase", ""))]
    said += [str(bytes(value.obj)), str(value.tobytes())] if isinstance(value, memoryview) else []
    said += [str(value.tobytes())] if isinstance(value, np.ndarray) else []
    said += [str(value.tzname())] if isinstance(value, datetime) else []
    return " ".join(said)


@pytest.mark.parametrize(
    "policy", [REDACTS, REFUSES, "strict"], ids=["redacts", "refuses", "strict"]
)
@pytest.mark.parametrize("make", BESIDE.values(), ids=BESIDE)
def test_nothing_comes_past_a_reading(make: Callable[[], Any], policy: Any) -> None:
    run = Shield.load(policy).run("ann")
    got: Any = None
    with suppress(Refused):
        got = run.call(lambda: make())
    assert KEY not in shows(got)


def test_a_command_in_a_text_of_pythons_own_does_not_run() -> None:
    ran: list[Any] = []

    def bash(command: Any) -> None:
        ran.append(command)

    with pytest.raises(Refused):
        Shield.load("default").run("ann").call(bash, command=UserString("rm -rf /"))
    run = Shield.load("default").run("ann")
    assert not run.check("bash", {"command": UserString("rm -rf /")}).proceeds
    assert ran == []


def test_headers_are_redacted_where_their_client_keeps_them() -> None:
    run = Shield.load(REDACTS).run("ann")
    got = run.call(
        lambda: httpx.Response(200, text=f"it is {KEY}", headers={"x-k": KEY, "x-l": "fine"})
    )
    assert (got.headers["x-k"], got.headers["x-l"], got.text) == (GONE, "fine", f"it is {GONE}")
    assert got.headers["content-length"] == str(len(got.content))

    def asked() -> requests.Response:
        made = requests.Response()
        made.status_code, made._content, made.url = 200, b"a", f"https://a.example/{KEY}"
        made.headers["X-K"] = KEY
        return made

    response = run.call(asked)
    assert (response.headers["x-k"], response.url) == (GONE, f"https://a.example/{GONE}")


def test_what_ends_something_when_it_ends_is_not_copied() -> None:
    ended: list[str] = []

    class Ends:
        def __init__(self) -> None:
            self.path = "x"

        def __del__(self) -> None:
            ended.append(self.path)

    run = Shield.load({"name": "p"}).run("ann")
    kept = Ends()
    run.check("t", {"it": kept})
    with pytest.raises(Refused):
        run.call(lambda it: it, it=kept)
    assert ended == []
    with tempfile.NamedTemporaryFile("w+") as file:
        run.check("t", {"it": file})
        with pytest.raises(Refused):
            run.call(lambda it: it, it=file)
        assert os.path.exists(file.name)


def test_an_error_that_holds_a_key_is_withheld() -> None:
    class Broke(Exception):
        def __init__(self, body: Any) -> None:
            super().__init__("it broke")
            self.body = body

    def breaks() -> None:
        raise Broke({"note": KEY})

    with pytest.raises(ToolFailed) as raised:
        Shield.load(REDACTS).run("ann").call(breaks)
    assert KEY not in str(vars(raised.value))


def test_a_stream_that_breaks_with_a_key_is_withheld() -> None:
    def source() -> Iterator[str]:
        yield "a "
        raise ValueError(f"oops {KEY}")

    with pytest.raises(ToolFailed) as raised:
        list(Shield.load(REDACTS).run("ann").stream(source()))
    assert KEY not in str(raised.value)


def test_numbers_that_cannot_be_written_are_refused_in_words() -> None:
    run = Shield.load({"name": "p"}).run("ann")
    assert run.check("t", {"x": Fraction(10**20_000, 3)}).code == "kernel.bad_event"


def test_a_deque_keeps_its_length_and_a_time_its_zone() -> None:
    assert taken(deque([1, 2], 3)).handed.maxlen == 3
    assert read(datetime(2024, 1, 1, tzinfo=UTC)).content == "2024-01-01T00:00:00+00:00"


def test_a_time_that_pydantic_has_read_is_read_and_one_in_a_zone_of_somebodys_own_is_not() -> None:
    times = pydantic.TypeAdapter(datetime)
    assert read(times.validate_json('"2024-01-01T00:00:00+01:00"')).content.startswith(
        "2024-01-01T00:00:00+01:00"
    )
    own = type(
        "TzInfo",
        (tzinfo,),
        {"__module__": "pydantic_core._pydantic_core", "utcoffset": lambda *_: None},
    )
    assert read(datetime(2024, 1, 1, tzinfo=own())).unread


def halves(*fields: str) -> list[dict[str, Any]]:
    """Chunks that bring a key in two pieces, in each of these fields."""
    return [dict.fromkeys(fields, "key AKIAWW7J"), dict.fromkeys(fields, "OSQESZEK5VDL ok")]


@pytest.mark.parametrize(
    "fields", [("output",), ("message",), ("foo",), ("foo", "bar"), ("text", "foo", "refusal")]
)
def test_a_key_in_two_pieces_of_any_field_never_shows(fields: tuple[str, ...]) -> None:
    out = list(Shield.load(REDACTS).run("ann").stream(halves(*fields)))
    for field in fields:
        assert KEY not in "".join([str(chunk[field]) for chunk in out])


@pytest.mark.parametrize("field", ["id", "name", "model", "signature", "status"])
def test_a_key_that_comes_in_pieces_beside_the_words_is_cut(field: str) -> None:
    pieces = [{"text": "a ", field: "AKIAWW7J"}, {"text": "b ", field: "OSQESZEK5VDL"}]
    out = list(Shield.load(REDACTS).run("ann").stream(pieces))
    assert KEY not in "".join([str(chunk[field]) for chunk in out])
    assert "".join([chunk["text"] for chunk in out]) == "a b "


def test_fields_of_one_chunk_do_not_run_into_each_other() -> None:
    pieces = [{"foo": "Hello ", "bar": "Good "}, {"foo": "there.", "bar": "morning."}]
    out = list(Shield.load(REDACTS).run("ann").stream(pieces))
    assert ["".join([chunk[name] for chunk in out]) for name in ("foo", "bar")] == [
        "Hello there.",
        "Good morning.",
    ]


def test_calls_of_several_choices_do_not_run_into_each_other() -> None:
    def chunk(choice: int, call: int, text: str) -> dict[str, Any]:
        delta = {"tool_calls": [{"index": call, "function": {"arguments": text}}]}
        return {"choices": [{"index": choice, "delta": delta}]}

    pieces = [chunk(0, 1, "key AKIAWW7J"), chunk(1, 0, "nothing"), chunk(0, 1, "OSQESZEK5VDL ok")]
    assert KEY not in str(list(Shield.load(REDACTS).run("ann").stream(pieces))).replace("', '", "")
    whole: dict[tuple[int, int], str] = {}
    for piece in Shield.load(REDACTS).run("ann").stream(pieces):
        choice = piece["choices"][0]
        call = choice["delta"]["tool_calls"][0]
        at = (choice["index"], call["index"])
        whole[at] = whole.get(at, "") + call["function"]["arguments"]
    assert whole == {(0, 1): f"key {GONE} ok", (1, 0): "nothing"}


def test_tokens_do_not_spell_what_is_hidden() -> None:
    tokens = {"content": [{"token": "AKIAWW7J"}, {"token": "OSQESZEK5VDL"}]}
    reply = {"choices": [{"index": 0, "message": {"content": f"it is {KEY}"}, "logprobs": tokens}]}
    run = Shield.load(REDACTS).run("ann")
    got = run.model(lambda _messages: reply, ["hello"])
    assert got["choices"][0]["logprobs"] is None
    streamed = [{"choices": [{"index": 0, "delta": {"content": KEY[:8]}, "logprobs": tokens}]}]
    assert "OSQESZEK5VDL" not in str(list(run.stream(streamed)))


def test_what_is_held_back_at_the_end_says_nothing_twice() -> None:
    choice = {"index": 0, "delta": {"content": "word"}, "finish_reason": "stop"}
    last: dict[str, Any] = {"choices": [choice], "usage": {"total_tokens": 5}}
    out = list(Shield.load(REDACTS).run("ann").stream([last]))
    assert "".join([chunk["choices"][0]["delta"]["content"] for chunk in out]) == "word"
    assert [chunk["usage"] for chunk in out if chunk["usage"]] == [{"total_tokens": 5}]
    assert [chunk["choices"][0]["finish_reason"] for chunk in out].count("stop") == 1


def test_chunks_that_are_lists_or_tuples_are_read() -> None:
    assert [*map("".join, Shield.load(REDACTS).run("ann").stream([["hello "]]))] == ["", "hello "]
    out = list(
        Shield.load(REDACTS).run("ann").stream([(SimpleNamespace(text=f"{KEY} "), {"step": 1})])
    )
    assert KEY not in str(out)


def test_usage_that_is_negative_is_none() -> None:
    run = Shield.load(
        {"name": "p", "guards": [{"use": "budget", "tokens": 1_000, "reserve_tokens": 10}]}
    ).run("ann")
    pieces = [{"text": "word " * 200, "usage": {"total_tokens": -5}}]
    with pytest.raises(Refused):
        [list(run.stream(list(pieces))) for _ in range(10)]

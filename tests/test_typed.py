"""Values of a type, read by many threads at once that are all the first."""

import os
import subprocess
import sys

import msgspec
import pytest

from stanchion import typed

ROUNDS = """
import os, signal, sys, threading
import msgspec
from stanchion import typed

sys.setswitchinterval(1e-6)

def nested(number, depth=12):
    kind = int
    for level in range(depth):
        rows = msgspec.field(default_factory=list)
        kind = msgspec.defstruct(f"Level{number}x{level}", [("inner", kind | None, None), ("rows", list[kind], rows)])
    return kind

def read(kind, place):
    data = {"inner": {"rows": [{}]}}
    ways = [
        lambda: typed.convert(data, kind),
        lambda: typed.decode(msgspec.json.encode(data), kind),
        lambda: typed.reader(kind).decode(msgspec.json.encode(data)),
        lambda: typed.unpacker(list[kind]).decode(msgspec.msgpack.encode([data]))[0],
    ]
    return msgspec.to_builtins(ways[place % len(ways)]())
"""  # noqa: E501

THREADS = (
    ROUNDS
    + """
for number in range(40):
    kind, gate, wrong = nested(number), threading.Barrier(8), []

    def first(place):
        gate.wait()
        if read(kind, place)["inner"]["rows"][0]["inner"] is not None:
            wrong.append(place)

    threads = [threading.Thread(target=first, args=(place,)) for place in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong
print("all read")
"""
)

FORKS = (
    ROUNDS
    + """
kinds = [nested(number) for number in range(400)]
begun = threading.Event()

def prepare():
    for kind in kinds:
        typed.prepare(kind)
        begun.set()

worker = threading.Thread(target=prepare)
worker.start()
begun.wait()
for _ in range(10):
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # one that waits for ever is ended, and seen
        for kind in kinds:
            read(kind, 0)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
worker.join()
print("all read")
"""
)


class Inner(msgspec.Struct):
    """A struct within another."""

    number: int = 0


class Outer(msgspec.Struct):
    """A struct with another in it."""

    inner: Inner


def played(script: str) -> str:
    """What a script prints in a process of its own; the process's end is an error here, and not
    this one's."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done.stdout


def test_threads_that_are_all_the_first_read_the_same() -> None:
    assert played(THREADS) == "all read\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_forked_while_a_type_is_worked_out_reads_it() -> None:
    assert played(FORKS) == "all read\n"


def test_values_are_those_of_msgspec() -> None:
    wanted = Outer(Inner(3))
    assert typed.convert({"inner": {"number": 3}}, Outer) == wanted
    assert typed.decode(b'{"inner": {"number": 3}}', Outer) == wanted
    assert typed.reader(tuple[Outer, ...]).decode(b'[{"inner": {"number": 3}}]') == (wanted,)
    assert typed.unpacker(Outer).decode(msgspec.msgpack.encode(wanted)) == wanted


def test_what_does_not_fit_is_refused_as_by_msgspec() -> None:
    with pytest.raises(
        msgspec.ValidationError, match=r"Expected `int`, got `str` - at `\$.inner.number`"
    ):
        typed.convert({"inner": {"number": "3"}}, Outer)
    with pytest.raises(msgspec.ValidationError, match="missing required field `inner`"):
        typed.decode(b"{}", Outer)
    with pytest.raises(msgspec.DecodeError, match="truncated"):
        typed.decode(b"{", Outer)


def test_a_type_that_cannot_be_read_is_refused_each_time() -> None:
    for _ in range(2):
        with pytest.raises(TypeError, match="may not contain more than one"):
            typed.convert({}, dict[str, int] | Inner)

"""Size limits cost no more than their input's size, and no more than the limits allow, whatever the
shape."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, Final

import pytest

from stanchion.guards.size_limits import SizeLimits
from stanchion.kernel.events import RunInfo, ToolCall, ToolResult
from stanchion.readings import read
from tests.guards.steps import steps_of

RUN: Final = RunInfo("r")
HUGE: Final = 10**9
BOUNDLESS: Final = SizeLimits(max_chars=HUGE, max_depth=HUGE, max_values=HUGE)


def nested(depth: int, inner: Any = 0) -> Any:
    value = inner
    for _ in range(depth):
        value = [value]
    return value


def tree(size: int) -> Any:
    """A balanced tree of about that many values."""
    return [] if size < 2 else [tree((size - 1) // 2), {"k": tree((size - 1) // 2)}]


SHAPES: Final[dict[str, Callable[[int], Any]]] = {
    "one long text": lambda n: "x" * n,
    "many texts": lambda n: ["x"] * n,
    "many keys": lambda n: {f"key-{number}": number for number in range(n)},
    "long keys": lambda n: {"x" * n: 1, "y" * n: 2},
    "deep lists": nested,
    "deep, with a wide end": lambda n: nested(n, list(range(n))),
    "wide, each deep": lambda n: [nested(10) for _ in range(n)],
    "a tree": tree,
    "empty lists": lambda n: [[] for _ in range(n)],
    "small mappings": lambda n: [{"a": "b"} for _ in range(n)],
}


def steps(guard: SizeLimits, result: Any) -> int:
    event = ToolResult(id="e", at=0, run=RUN, tool="t", result=result)
    return steps_of(lambda: guard.judge(read(event)))


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_size_costs_at_most_twice_the_steps(shape: str) -> None:
    small, large = (steps(BOUNDLESS, SHAPES[shape](size)) for size in (400, 800))
    assert large <= 2.1 * small + 20


@pytest.mark.parametrize("shape", SHAPES)
def test_what_lies_beyond_the_limits_costs_nothing(shape: str) -> None:
    guard = SizeLimits(max_chars=50, max_depth=20, max_values=50)
    small, large = (steps(guard, SHAPES[shape](size)) for size in (400, 4_000))
    assert large <= small + 20


def test_a_plain_call_is_measured_without_being_walked() -> None:
    reading = read(ToolCall(id="e", at=0, run=RUN, tool="t", args={"path": "a", "line": 3}))
    assert steps_of(lambda: SizeLimits().judge(reading)) < 20


@pytest.mark.parametrize("count", range(12))
def test_the_short_way_and_the_long_way_agree(count: int) -> None:
    """A flat mapping and the same mapping in a list differ by one level and one value, and by
    nothing else."""
    flat = {f"{number:x}": "x" if number % 2 else number for number in range(count)}
    call = ToolCall(id="e", at=0, run=RUN, tool="t", args=flat)
    wrapped = ToolResult(id="e", at=0, run=RUN, tool="t", result=[flat])
    for max_chars, max_values in product((0, 5, 11, 12, 13, 17, 18, 100), (0, 3, 8, 9, 10, 100)):
        said = SizeLimits(max_chars, 2, max_values).judge(read(call))
        also = SizeLimits(max_chars, 3, max_values + 1).judge(read(wrapped))
        codes = [None if finding is None else finding.code for finding in (said, also)]
        assert codes[0] == codes[1], (max_chars, max_values)

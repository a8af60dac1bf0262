"""A guardian whose clock stands still and whose ids are the same each time, and ways to use it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from stanchion.dialects.guardian import GuardianLayer
from stanchion.testing import FakeClock
from tests.dialects.listed import text

DOCUMENT = "guardian"


@contextmanager
def guarded(clock: FakeClock | None = None, **given: Any) -> Iterator[GuardianLayer]:
    """A guardian in memory."""
    numbers = itertools.count(1)
    time = FakeClock() if clock is None else clock
    with GuardianLayer(clock=time, **{"nonces": lambda: f"n{next(numbers)}", **given}) as guardian:
        yield guardian


def block(line: int) -> str:
    """A block of the document, with its imports from here."""
    return text(DOCUMENT, line).replace("from GuardianLayer", "from stanchion.dialects.guardian")


def ran(line: int, **names: Any) -> dict[str, Any]:
    """What is defined once a block of the document was run as it stands, with what it leaves to its
    reader."""
    world = {"GuardianLayer": GuardianLayer, **names}
    exec(compile(block(line), f"guardian line {line}", "exec"), world)  # noqa: S102 - the document's own code
    return world


def call(tool: str, **args: Any) -> dict[str, Any]:
    """A call of a tool."""
    return {"tool": tool, "arguments": args}


def failing(
    guardian: GuardianLayer, tool: str, times: int = 5, error: str = "connection refused"
) -> None:
    """Have a tool fail, each time in another call."""
    for number in range(times):
        guardian.report_result(call(tool, n=number), False, error)

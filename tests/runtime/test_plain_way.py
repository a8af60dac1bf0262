"""The way of a plain call and of its result: how many functions it goes through, which no noise
disturbs."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from types import FrameType
from typing import Any, Final

import pytest

import stanchion
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield

ARGS: Final = {"command": "ls"}
MOST_OF_A_CALL: Final = 44
MOST_OF_A_RESULT: Final = 57
"""Functions of the runtime, the kernel, the store in memory and its lock. Whoever needs more on the
way of every call says here what for: the phases of the engine are functions, and so is what differs
between the course of an action and that of an outcome; and of some decisions it is measured how
long their guards take."""
ROOT: Final = os.path.dirname(stanchion.__file__)
WITHIN: Final = tuple(
    os.path.join(ROOT, part, "") for part in ("runtime", "kernel", "stores", "locks")
)


class Counting:
    """Counts the calls of functions that are on the way, resumed generators included."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __enter__(self) -> Counting:
        self._before = sys.getprofile()
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self._before)

    def _note(self, frame: FrameType, event: str, _arg: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(WITHIN):
            self.names.append(frame.f_code.co_qualname)


def ready() -> Run:
    """A run for which everything is made that is made once."""
    run = Shield.load({"name": "bare"}, store="memory:", journal="memory:").run("ann", "work")
    for _ in range(3):
        run.result("bash", ARGS, "a b", call=run.check("bash", ARGS).id)
    return run


def test_a_plain_call_and_its_result_go_a_short_way() -> None:
    run = ready()
    with Counting() as call:
        decision = run.check("bash", ARGS)
    with Counting() as result:
        run.result("bash", ARGS, "a b", call=decision.id)
    assert len(call.names) <= MOST_OF_A_CALL, call.names
    assert len(result.names) <= MOST_OF_A_RESULT, result.names


@pytest.mark.parametrize(
    "asked", [lambda run: run.acheck("bash", ARGS), lambda run: run.aresult("bash", ARGS, "a b")]
)
def test_async_code_goes_no_longer_way(asked: Callable[[Run], Awaitable[Any]]) -> None:
    """One function more: the store is awaited."""

    async def counted() -> list[str]:
        run = ready()
        await asked(run)
        with Counting() as found:
            await asked(run)
        return found.names

    names = asyncio.run(counted())
    most = MOST_OF_A_CALL if "check" in names else MOST_OF_A_RESULT
    assert len(names) <= most + 1, names

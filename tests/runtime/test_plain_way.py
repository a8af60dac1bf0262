"""The way of a plain call and of its result is as long in async code as it is in other code; how
long that is, the meter knows (`tools/size/figures.txt`)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest

import stanchion
from stanchion.runtime.run import Run
from stanchion.runtime.shield import Shield
from stanchion_lab.bench.calls import Calls

Plain = Callable[[Run], Any]
Awaited = Callable[[Run], Awaitable[Any]]
ARGS: Final = {"command": "ls"}
HOUSE: Final = os.path.dirname(stanchion.__file__) + os.sep


def ready() -> Run:
    """A run for which everything is made that is made once."""
    run = Shield.load({"name": "bare"}, store="memory:", journal="memory:").run("ann", "work")
    for _ in range(3):
        run.result("bash", ARGS, "a b", call=run.check("bash", ARGS).id)
    return run


@pytest.mark.parametrize(
    ("plain", "awaited"),
    [
        (lambda run: run.check("bash", ARGS), lambda run: run.acheck("bash", ARGS)),
        (lambda run: run.result("bash", ARGS, "a b"), lambda run: run.aresult("bash", ARGS, "a b")),
    ],
)
def test_async_code_goes_no_longer_way(plain: Plain, awaited: Awaited) -> None:
    """One function more: the store is awaited."""

    async def count_awaited() -> Calls:
        run = ready()
        await awaited(run)
        with Calls() as calls:
            await awaited(run)
        return calls

    run = ready()
    plain(run)
    with Calls() as calls:
        plain(run)
    names = [code.co_qualname for code in asyncio.run(count_awaited()).below(HOUSE)]
    assert len(names) <= len(calls.below(HOUSE)) + 1, names

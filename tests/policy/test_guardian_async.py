"""The layers of the pack `guardian` on an event loop: while the store is busy, everything else goes
on."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from stanchion import Shield

TOOL = {"name": "search", "inputSchema": {"type": "object", "required": ["query"]}}
ARGS = {"query": "refunds"}

ASKED: dict[str, Callable[[Any], Awaitable[Any]]] = {
    "a check by all layers": lambda run: run.acheck("search", ARGS),
    "a check that the schema refuses": lambda run: run.acheck("search", {}),
    "an outcome": lambda run: run.aerror("search", TimeoutError("late"), args=ARGS),
    "a result": lambda run: run.aresult("search", ARGS, "a page"),
}


@pytest.mark.parametrize("what", ASKED)
def test_an_event_loop_goes_on_while_a_layer_waits_for_the_store(what: str, tmp_path: Path) -> None:
    """Somebody else holds the database until the loop has turned a hundred times beside the
    question."""

    async def beside(run: Any, holder: sqlite3.Connection) -> tuple[int, bool]:
        asked = asyncio.ensure_future(ASKED[what](run))
        turns = 0
        while turns < 100:
            await asyncio.sleep(0)
            turns += 1
        waits = not asked.done()
        holder.rollback()
        await asked
        return turns, waits

    with Shield.load("guardian", store=tmp_path / "state.db", journal="memory:") as shield:
        shield.ingest([TOOL])
        run = shield.run("a")
        run.check("search", {"query": "before"})
        holder = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        assert asyncio.run(beside(run, holder)) == (100, True)
        holder.close()


def test_what_an_agent_should_know_is_the_same_on_an_event_loop() -> None:
    with Shield.load("guardian", store="memory:", journal="memory:") as shield:
        run = shield.run("a")
        for _ in range(3):
            run.error("search", TimeoutError("late"), args=ARGS)
        assert asyncio.run(run.aawareness()) == run.awareness() != ""

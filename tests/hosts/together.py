"""Many requests at once through one agent: each has to work in a run of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from stanchion.audit.journal import MemoryJournal
from stanchion.runtime.shield import Shield
from stanchion.testing import shield_for

MANY = 100
BARE: dict[str, Any] = {"name": "bare"}
WRONG: tuple[Any, ...] = (None, "shield", {"name": "bare"}, Shield)
"""What is no shield and no run."""


def kept_shield(policy: dict[str, Any] = BARE) -> tuple[Shield, MemoryJournal]:
    """A shield, and where what it decides is written down."""
    journal = MemoryJournal()
    return shield_for(policy, journal=journal), journal


def runs_of(journal: MemoryJournal) -> dict[str, list[Any]]:
    """What was decided, by run."""
    found: dict[str, list[Any]] = {}
    for kept in journal.kept():
        record = kept.read()
        if record.run:
            found.setdefault(record.run, []).append(record)
    return found


def check_apart(journal: MemoryJournal, names: list[str]) -> None:
    """Hold that each request was judged in a run of its own, from its prompt to its tool's
    result."""
    said = {
        run: str([record.content for record in records])
        for run, records in runs_of(journal).items()
    }
    own = {name: {run for run, text in said.items() if name in text} for name in names}
    assert all(len(found) == 1 for found in own.values()), own
    assert len(set.union(*own.values())) == len(names)


def requests() -> list[str]:
    """What a hundred users ask for: no name is in another."""
    return [f"page-{number:03}" for number in range(MANY)]


def all_at_once(ask: Callable[[str], Awaitable[Any]]) -> list[Any]:
    """What comes of all requests, each in a task of one event loop."""

    async def play() -> list[Any]:
        return await asyncio.gather(*[ask(name) for name in requests()])

    return asyncio.run(play())


def all_in_threads(ask: Callable[[str], Any]) -> list[Any]:
    """What comes of all requests, in threads."""
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(ask, requests()))

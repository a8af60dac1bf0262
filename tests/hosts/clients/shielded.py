"""What a client shows that was given a shield: which runs its requests belong to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from stanchion import Shield
from tests.hosts.clients.provider import Provider, Say

Ask = Callable[[Any], Any]
"""Has a client ask its model."""


def shield() -> Shield:
    """A shield that lets everything pass and keeps what it decides."""
    return Shield.load({"name": "bare"}, store="memory:", journal="memory:", notify="none")


def runs_of(made: Shield) -> list[str]:
    """The runs of all requests to models, in their order."""
    kept = [one.read() for one in made.journal.kept()]
    return [one.run for one in kept if one.stage == "model_call"]


def check_runs(guard: Any, plain: Callable[[Provider], Any], ask: Ask) -> None:
    """Requests belong to the run around their caller, or else to one of the client's own."""
    mine, other = shield(), shield()
    with Provider([Say(["hello"])]) as provider:
        client = guard(plain(provider), mine)
        ask(client)
        with mine.run("ann") as run:
            ask(client)
        with other.run("bob"):
            ask(client)
        getattr(client, "close", bool)()
        own, around, again = runs_of(mine)
        assert (own == again, around == run.id, own != around) == (True, True, True)
        assert runs_of(other) == []
        with pytest.raises(TypeError, match="give it the shield"):
            guard(plain(provider), object())


def check_many(
    guard: Any,
    plain: Callable[[Provider], Any],
    aplain: Callable[[Provider], Any],
    ask: Ask,
    aask: Callable[[Any], Awaitable[Any]],
) -> None:
    """One client for a hundred callers at once, each of them in a run of its own, in threads and in
    tasks."""
    made = shield()
    with Provider([Say(["hello"])]) as provider:
        client = guard(plain(provider), made)

        def one(number: int) -> str:
            with made.run("ann", str(number)) as run:
                ask(client)
                return run.id

        with ThreadPoolExecutor(20) as pool:
            asked = list(pool.map(one, range(100)))
        getattr(client, "close", bool)()
        assert sorted(runs_of(made)) == sorted(asked)

        async def play() -> list[str]:
            client = guard(aplain(provider), made)

            async def aone(number: int) -> str:
                async with made.run("ann", str(number)) as run:
                    await aask(client)
                    return str(run.id)

            ran = await asyncio.gather(*[aone(number) for number in range(100)])
            if hasattr(client, "close"):
                await client.close()
            return ran

        asked += asyncio.run(play())
        assert sorted(runs_of(made)) == sorted(asked)
        assert len(set(asked)) == 200

"""Parity: the same conversation by a plain client and by a guarded one under a bare policy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pydantic

from stanchion import Shield
from tests.hosts.clients.provider import Call, Provider, Say

TURN = [Say(["It ", "is ", "fine", "."]), Call("look", {"name": "ann"})]
PAGE = [Say(['{"owner": ', '"ann"}'])]


class Page(pydantic.BaseModel):
    """What is asked for as structured output."""

    owner: str


def plainly(value: Any) -> Any:
    """What an SDK gave, as data with the names of its types."""
    if isinstance(value, pydantic.BaseModel):
        fields = {name: plainly(item) for name, item in value}
        return {"": type(value).__name__, **fields, **plainly(value.model_extra or {})}
    if isinstance(value, list | tuple):
        return [plainly(item) for item in value]
    if isinstance(value, dict):
        return {name: plainly(item) for name, item in value.items()}
    return value


def same(
    plain: Callable[[str], Any],
    guard: Callable[[Any, Any], Any],
    play: Callable[[Any], Any],
    turn: list[Any],
) -> Any:
    """Have a conversation twice; gives what came, which is the same."""

    def came(wrap: Callable[[Any], Any]) -> Any:
        with Provider(turn) as provider:
            client = plain(provider.url)
            made = play(wrap(client))
            made = asyncio.run(made) if asyncio.iscoroutine(made) else made
            asked = [(one.method, one.path, one.body) for one in provider.asked]
        return plainly(made), asked

    with Shield.load({"name": "bare"}) as shield, shield.run("ann") as run:
        guarded = came(lambda client: guard(client, run))
    assert came(lambda client: client) == guarded
    assert guarded[0]
    return guarded[0]

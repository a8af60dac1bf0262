"""Closing the source of a stream, whatever ends it."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import Any

from stanchion.runtime.calling.pace import Pace
from stanchion.runtime.streams.holdback import Item


@contextmanager
def closing(source: Iterable[Item]) -> Iterator[Iterator[Item]]:
    """A source's items; whatever ends the stream, the source is closed, and what ended it is what
    is raised."""
    items = iter(source)
    try:
        yield items
    except BaseException:
        with suppress(Exception):
            _close(items, source)
        raise
    _close(items, source)


def _close(*ends: Any) -> None:
    for end in {id(end): end for end in ends}.values():
        close = getattr(end, "close", None)
        if close is not None:
            close()


@asynccontextmanager
async def aclosing(source: AsyncIterable[Item], pace: Pace) -> AsyncIterator[AsyncIterator[Item]]:
    from stanchion.runtime.calling.item_task import in_time

    own = aiter(source)
    items = in_time(own, partial(_aclose, own, source), pace)
    ends = (own, source) if items is own else (items,)
    try:
        yield items
    except BaseException:
        with suppress(Exception):
            await _aclose(*ends)
        raise
    await _aclose(*ends)


async def _aclose(*ends: Any) -> None:
    for end in {id(end): end for end in ends}.values():
        close = getattr(end, "aclose", getattr(end, "close", None))
        done = None if close is None else close()
        if inspect.isawaitable(done):
            await done

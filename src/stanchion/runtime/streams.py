"""Streams: replies that come in chunks. Each piece is judged before it is passed on, and held back until it can be."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, Final

from stanchion.kernel.events import ModelChunk, ModelReply
from stanchion.runtime.desk import Desk
from stanchion.runtime.drivers import Flow, drive
from stanchion.runtime.flows import judge
from stanchion.runtime.holding import Held, Item, Keepers, Piece

SHAPES: Final = (str, bytes, Piece)
"""What a stream may be made of."""


def chunks(desk: Desk, source: Iterable[Item], channel: str) -> Iterator[Item]:
    """Pass a streamed reply on; the source is closed as soon as a piece is refused or nobody wants more."""
    stream = Stream(desk, channel)
    with _closing(source) as items:
        for item in items:
            for piece in drive(stream.take(item), desk):
                yield piece
        for name in stream.channels:
            for piece in drive(stream.rest(name), desk):
                yield piece
    drive(stream.whole(), desk)


async def achunks(desk: Desk, source: AsyncIterable[Item], channel: str) -> AsyncIterator[Item]:
    """The same on an event loop."""
    from stanchion.runtime.loop import adrive

    stream = Stream(desk, channel)
    async with _aclosing(source) as items:
        async for item in items:
            for piece in await adrive(stream.take(item), desk):
                yield piece
        for name in stream.channels:
            for piece in await adrive(stream.rest(name), desk):
                yield piece
    await adrive(stream.whole(), desk)


class Stream:
    """One streamed reply: what is held back on each of its channels until it can be judged for good."""

    def __init__(self, desk: Desk, channel: str) -> None:
        self._desk = desk
        self._channel = channel
        self._held: dict[str, Held] = {}
        self._plans = desk.plans
        self._keepers = Keepers(self._plans.policy, self._plans.run)
        self._index = 0
        self._first = ""

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels so far, in the order in which they began."""
        return tuple(self._held)

    def take(self, item: Any) -> Flow[tuple[Any, ...]]:
        """Take an item of the source; gives what can be passed on now, judged: one piece or none."""
        name, held, given = self._opened(item)
        held.add(given)
        if self._desk.plans is not self._plans:
            self._plans = self._desk.plans
            self._keepers = Keepers(self._plans.policy, self._plans.run)
        count, refused = held.ready(self._keepers) if self._keepers.any else (len(held.text), None)
        if refused is not None or self._desk.ended is not None:
            count = len(held.text)
        if not count and (given or self._keepers.any):
            return ()
        return (yield from self._pass_on(name, held, count, refused))

    def rest(self, name: str) -> Flow[tuple[Any, ...]]:
        """What is left on a channel at the end of the stream."""
        held = self._held[name]
        held.end()
        return (yield from self._pass_on(name, held, len(held.text))) if held.text else ()

    def whole(self) -> Flow[None]:
        """Judge the reply as it was delivered; what can no longer be redacted is refused.

        The reply is the stream's own channel; where nothing came on it, the one that began first.
        """
        held = self._held.get(self._channel, next(iter(self._held.values()), None))
        event: Any = self._desk.event(ModelReply, text="" if held is None else "".join(held.passed))
        decision = yield from judge(self._desk, self._desk.moment(event), plans=self._desk.streamed)
        if not decision.proceeds:
            raise self._desk.refusal(decision)

    def _opened(self, item: Any) -> tuple[str, Held, str | bytes]:
        """The channel of an item, what is held there, and the item's text."""
        shape: type[Any] = type(item)
        name, given = item if shape is Piece else (self._channel, item)
        held = self._held.get(name) if shape in SHAPES else None
        if held is None or held.shape is not shape or shape is Piece:
            held = self._begun(name, given, shape)
        return name, held, given

    def _begun(self, name: Any, given: Any, shape: type[Any]) -> Held:
        """What is held on a channel on which something comes for the first time, or in another shape."""
        shape = next((kind for kind in SHAPES if issubclass(shape, kind)), shape)
        if shape not in SHAPES or not isinstance(given, bytes if shape is bytes else str) or not isinstance(name, str):
            wrong = type(given).__name__
            raise TypeError(f"a stream passes texts on, not `{wrong}`: give the text of each chunk")
        held = self._held.setdefault(name, Held(shape))
        if (held.shape is bytes) != (shape is bytes):
            raise TypeError(f"the channel `{name}` has texts and bytes: give one of them, or give each its own channel")
        held.shape = shape
        return held

    def _pass_on(self, name: str, held: Held, count: int, refused: Any = None) -> Flow[tuple[Any, ...]]:
        desk = self._desk
        text, before = held.take(count, self._keepers.context)
        event: Any = desk.event(ModelChunk, call=self._first, text=text, channel=name, index=self._index, before=before)
        self._first = self._first if self._first else event.id
        self._index += 1
        decision = yield from judge(desk, desk.moment(event, refused=() if refused is None else (refused,)))
        if not decision.proceeds:
            raise desk.refusal(decision)
        passed = str(decision.patched(text))
        held.passed.append(passed)
        desk.partial.offer(passed)
        return (held.shaped(name, passed),)


@contextmanager
def _closing(source: Iterable[Item]) -> Iterator[Iterator[Item]]:
    """A source's items; whatever ends the stream, the source is closed, and what ended it is what is raised."""
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
async def _aclosing(source: AsyncIterable[Item]) -> AsyncIterator[AsyncIterator[Item]]:
    items = aiter(source)
    try:
        yield items
    except BaseException:
        with suppress(Exception):
            await _aclose(items, source)
        raise
    await _aclose(items, source)


async def _aclose(*ends: Any) -> None:
    for end in {id(end): end for end in ends}.values():
        close = getattr(end, "aclose", getattr(end, "close", None))
        done = None if close is None else close()
        if inspect.isawaitable(done):
            await done

"""Items: tools that yield, and tools that return something that does. Each item is judged before
the agent gets it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Iterator
from functools import partial
from typing import Any, Generic, TypeVar

import msgspec

from stanchion.kernel.stages import Stage
from stanchion.runtime.calling.at_work import working
from stanchion.runtime.calling.begin import BegunCall, begin, begun as has_begun
from stanchion.runtime.calling.ledger import ONCE
from stanchion.runtime.calling.outcome import deliver, ends_late, failed, shown
from stanchion.runtime.calling.pace import (
    END,
    InTask,
    InTime,
    Pace,
    SourceSteps,
    in_time,
    next_in_time,
)
from stanchion.runtime.calling.refusal_text import TEXT, aending_in_text, ending_in_text
from stanchion.runtime.calling.tool import Tool
from stanchion.runtime.deciding.desk import Desk
from stanchion.runtime.deciding.judging import lapsed
from stanchion.runtime.deciding.left import abandoned
from stanchion.runtime.deciding.record import concluded
from stanchion.runtime.deciding.spend import close_hold, settled
from stanchion.runtime.deciding.under_way import CallWay
from stanchion.runtime.driving.flow import Flow
from stanchion.runtime.driving.sync import Ended, drive
from stanchion.runtime.errors import Refused
from stanchion.runtime.values.form_of import is_stream


class Coming(msgspec.Struct, frozen=True):
    """A call that has begun and whose items are still to come."""

    call: BegunCall
    source: Any
    pace: Pace


def coming(one: BegunCall, source: Any) -> Coming:
    """A call whose items come from a source."""
    one.desk.under_way.hand(one.decision.id)
    return Coming(
        one,
        source,
        Pace(one.desk, one.tool.name, one.desk.limit_s(one.tool.name, one.tool.timeout_s)),
    )


def items(desk: Desk, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
    """Run a generator tool: judged before its first step, every item judged before the agent gets
    it."""
    made = _items(desk, tool, args, kwargs)
    return ending_in_text(made) if tool.refusal == TEXT else made


def _items(desk: Desk, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
    _not_once(desk, tool)
    way = CallWay()
    try:
        begun = drive(begin(desk, tool, args, kwargs, way), desk)
        yield from consumed(desk, drive(_opened(begun), desk))
    except BaseException as error:
        abandoned(desk, way.call, error)
        raise


def aitems(
    desk: Desk, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> AsyncGenerator[Any, None]:
    """The same on an event loop, for a generator tool of either kind; a sync one works in
    threads."""
    made = _aitems(desk, tool, args, kwargs)
    return aending_in_text(made) if tool.refusal == TEXT else made


async def _aitems(
    desk: Desk, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> AsyncGenerator[Any, None]:
    from stanchion.runtime.driving.doors import abegin
    from stanchion.runtime.driving.on_loop import adrive

    _not_once(desk, tool)
    way = CallWay()
    try:
        begun = await abegin(begin(desk, tool, args, kwargs, way), desk)
        items = aconsumed(desk, await adrive(_opened(begun), desk))
        try:
            async for item in items:
                yield item
        finally:
            await items.aclose()
    except BaseException as error:
        abandoned(desk, way.call, error)
        raise


def _opened(one: BegunCall) -> Flow[Coming]:
    """A generator tool's call as it begins. Nothing of the generator itself has run by then."""
    desk, decision, event = one.desk, one.decision, one.event
    if desk.allowed.lapsed(decision):
        raise desk.refusal((yield from lapsed(desk, decision, event, one.reserved)))
    has_begun(desk, decision, event)
    one.began_ms = desk.shield.clock()
    try:
        return coming(one, one.tool.fn(*one.args, **one.kwargs))
    except Exception as error:
        yield from failed(desk, event, decision, error, 1, harmless=True)
        yield from close_hold(desk, decision, one.used())
        raise


def handed(desk: Desk, coming: Any, awaited: bool) -> Any:
    """A call's result: itself, or its items as they come."""
    if type(coming) is not Coming:
        return coming
    awaits = (
        is_stream(coming.source, awaited=True)
        if awaited
        else not is_stream(coming.source, awaited=False)
    )
    in_text = coming.call.tool.refusal == TEXT
    if awaits:
        later = aconsumed(desk, coming)
        return aending_in_text(later) if in_text else later
    made = consumed(desk, coming)
    return ending_in_text(made) if in_text else made


def consumed(desk: Desk, coming: Coming) -> Iterator[Any]:
    """The items of a call that has begun, judged one by one; what it reserved is settled at the
    end."""
    part, judged = 0, False
    one = coming.call
    source = InTime(desk, coming.source, coming.pace)
    ended: BaseException | None = None
    try:
        for value in _made(one.tool, source):
            part += 1
            item = drive(_delivered(one, value, part), desk)
            judged = True
            yield item
    except BaseException as error:
        ended = error
        raise
    finally:
        try:
            with working(one.tool.name):
                broke = _closed(source, ended)
            if broke is not None:
                drive(failed(desk, one.event, one.decision, broke, 1), desk)
                if broke is not ended:
                    raise broke
        finally:
            drive(_over(one, part, judged), desk)


async def aconsumed(desk: Desk, coming: Coming) -> AsyncGenerator[Any, None]:
    """The same for items that are awaited; those of a sync source are made in threads."""
    from stanchion.runtime.driving.on_loop import adrive

    part, judged = 0, False
    one = coming.call
    source = _source(coming, ends_late(one))
    ended: BaseException | None = None
    try:
        while (value := await _anext(one.tool, source, coming.pace)) is not END:
            part += 1
            item = await adrive(_delivered(one, value, part), desk)
            judged = True
            yield item
    except BaseException as error:
        ended = error
        raise
    finally:
        try:
            with working(one.tool.name):
                broke = await _aclosed(source, coming.source, ended)
            if broke is not None:
                await adrive(failed(desk, one.event, one.decision, broke, 1), desk)
                if broke is not ended:
                    raise broke
        finally:
            await adrive(_over(one, part, judged), desk)


def _over(one: BegunCall, part: int, judged: bool) -> Flow[None]:
    """Settle a call whose last item has come, and write down how many there were. The first one
    that was judged gave back the places of the call."""
    settles, how = settled(one.decision, one.used()), f"it ended after {part} items"
    return concluded(one.desk, one.event, one.decision, settles, how, not judged)


def _delivered(one: BegunCall, value: Any, part: int) -> Flow[Any]:
    """Judge one item; the call is settled when all have come."""
    return deliver(one, shown(one.desk, Stage.TOOL_RESULT, one.tool.name, value), part=part)


def _source(coming: Coming, ended: Ended) -> Any:
    """What gives the items of something that is iterated over, awaited; a sync source works in
    threads."""
    whole = coming.source
    if is_stream(whole, awaited=True) or hasattr(type(whole), "__aiter__"):
        source = whole if hasattr(type(whole), "__anext__") else aiter(whole)

        return in_time(source, partial(_aclose, source, whole), coming.pace, ended)

    return InThreads(whole)


def _closed(source: InTime, ended: BaseException | None) -> Exception | None:
    """Close a source; gives what its tool has raised, at work or now. What ended it otherwise goes
    before that."""
    try:
        source.close()
    except Exception as error:  # noqa: BLE001 - a tool may raise anything
        return _broke(ended, error)
    return _broke(ended, None)


async def _aclosed(source: Any, whole: Any, ended: BaseException | None) -> Exception | None:
    """The same for items that are awaited."""
    try:
        # One in a task closes the whole too, or leaves that to the code that is still at it.
        await (source.aclose() if type(source) is InTask else _aclose(source, whole))
    except Exception as error:  # noqa: BLE001 - a tool may raise anything
        return _broke(ended, error)
    return _broke(ended, None)


async def _aclose(source: Any, whole: Any) -> None:
    for end in {id(end): end for end in (source, whole)}.values():
        close = getattr(end, "aclose", None)
        if callable(close):
            await close()


def _broke(ended: BaseException | None, closing: Exception | None) -> Exception | None:
    if isinstance(ended, Refused):
        return None
    return ended if isinstance(ended, Exception) else closing


def _made(tool: Tool, source: InTime) -> Iterator[Any]:
    """The items of a tool, which is at work while it makes one, and not while the agent has it."""
    while True:
        with working(tool.name):
            value = next(source, END)
        if value is END:
            return
        yield value


async def _anext(tool: Tool, source: Any, pace: Pace) -> Any:
    """The same for an async one."""
    with working(tool.name):
        return await next_in_time(source, pace)


def _not_once(desk: Desk, tool: Tool) -> None:
    if ONCE in desk.known(desk.plans, tool.name).traits:
        raise TypeError(
            f"`{tool.name}` gives many items, and only a call with one result can be made `once`"
        )


Y = TypeVar("Y")


class Items(Generic[Y]):
    """The judged items of a tool that yields: `async for item in run.acall(tool)`.

    Awaiting it gives it back, for hosts that await whatever a tool returns.
    """

    __slots__ = ("_items",)

    def __init__(self, items: AsyncGenerator[Y, None]) -> None:
        self._items = items

    def __aiter__(self) -> Items[Y]:
        return self

    async def __anext__(self) -> Y:
        return await anext(self._items)

    def __await__(self) -> Generator[Any, None, Items[Y]]:
        yield from ()
        return self

    async def aclose(self) -> None:
        """End it early; the tool is closed, and what came of it recorded."""
        await self._items.aclose()


class InThreads:
    """A sync source for async code: each of its items is made in a thread, so that it never holds
    up the loop."""

    def __init__(self, source: Any) -> None:
        self._steps = SourceSteps(source)

    async def __anext__(self) -> Any:
        value = await asyncio.to_thread(self._steps.next)
        if value is END:
            raise StopAsyncIteration
        return value

    async def aclose(self) -> None:
        """Close the source. Where nobody waits any more for the item that it is making, its thread
        does that."""
        await asyncio.to_thread(self._steps.close)

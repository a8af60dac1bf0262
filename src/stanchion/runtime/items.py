"""Items: tools that yield, and tools that return something that does. Each item is judged before the agent gets it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import Any

import msgspec

from stanchion.kernel.decision import Decision
from stanchion.kernel.events import ToolCall
from stanchion.kernel.stages import Stage
from stanchion.kernel.units import Amounts
from stanchion.runtime.at_work import working
from stanchion.runtime.desk import Desk
from stanchion.runtime.drivers import Flow, drive
from stanchion.runtime.errors import Refused
from stanchion.runtime.flows import begin, deliver, failed, shown
from stanchion.runtime.ledger import ONCE
from stanchion.runtime.recording import left
from stanchion.runtime.spending import close_hold, used_by
from stanchion.runtime.starting import lapsed
from stanchion.runtime.streamed import is_stream
from stanchion.runtime.tool import Shape, Tool


class Coming(msgspec.Struct, frozen=True):
    """A call that has begun and whose items are still to come."""

    tool: Tool
    source: Any
    event: ToolCall
    decision: Decision
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    reserved: Amounts
    began_ms: int


def items(desk: Desk, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
    """Run a generator tool: judged before its first step, every item judged before the agent gets it."""
    _not_once(desk, tool)
    decision, event, args, kwargs, reserved = drive(begin(desk, tool, args, kwargs), desk)
    if desk.allowed.leave(decision).over:
        raise desk.refusal(drive(lapsed(desk, decision, event, reserved), desk))
    began_ms = desk.shield.clock()
    yield from consumed(desk, Coming(tool, tool.fn(*args, **kwargs), event, decision, args, kwargs, reserved, began_ms))


async def aitems(desk: Desk, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> AsyncGenerator[Any, None]:
    """The same on an event loop, for a generator tool of either kind; a sync one works in threads."""
    from stanchion.runtime.loop import adrive

    _not_once(desk, tool)
    decision, event, args, kwargs, reserved = await adrive(begin(desk, tool, args, kwargs), desk)
    if desk.allowed.leave(decision).over:
        raise desk.refusal(await adrive(lapsed(desk, decision, event, reserved), desk))
    began_ms = desk.shield.clock()
    source: Any = tool.fn(*args, **kwargs)
    if tool.shape is Shape.GENERATOR:
        from stanchion.runtime.aitems import InThreads

        source = InThreads(source)
    coming = Coming(tool, source, event, decision, args, kwargs, reserved, began_ms)
    items = aconsumed(desk, coming)
    try:
        async for item in items:
            yield item
    finally:
        await items.aclose()


def handed(desk: Desk, coming: Any, awaited: bool) -> Any:
    """A call's result: itself, or its items as they come."""
    if type(coming) is not Coming:
        return coming
    awaits = is_stream(coming.source, awaited=True) if awaited else not is_stream(coming.source, awaited=False)
    return aconsumed(desk, coming) if awaits else consumed(desk, coming)


def consumed(desk: Desk, coming: Coming) -> Iterator[Any]:
    """The items of a call that has begun, judged one by one; what it reserved is settled at the end."""
    part = 0
    tool, event, decision = coming.tool, coming.event, coming.decision
    try:
        for value in _made(tool, iter(coming.source)):
            part += 1
            yield drive(_delivered(desk, coming, value, part), desk)
    except (Refused, GeneratorExit):
        raise
    except Exception as error:
        drive(failed(desk, event, decision, error, 1), desk)
        raise
    finally:
        with working(tool.name):
            _close(coming.source)
        left(desk, event, decision, f"it is over after {part} items")
        drive(close_hold(desk, decision, used_by(desk, coming.reserved, coming.began_ms)), desk)


async def aconsumed(desk: Desk, coming: Coming) -> AsyncGenerator[Any, None]:
    """The same for items that are awaited."""
    from stanchion.runtime.loop import adrive

    part = 0
    tool, event, decision = coming.tool, coming.event, coming.decision
    try:
        async for value in _amade(tool, _source(coming.source)):
            part += 1
            yield await adrive(_delivered(desk, coming, value, part), desk)
    except (Refused, GeneratorExit):
        raise
    except Exception as error:
        await adrive(failed(desk, event, decision, error, 1), desk)
        raise
    finally:
        with working(tool.name):
            await _aclose(coming.source)
        left(desk, event, decision, f"it is over after {part} items")
        await adrive(close_hold(desk, decision, used_by(desk, coming.reserved, coming.began_ms)), desk)


def _delivered(desk: Desk, coming: Coming, value: Any, part: int) -> Flow[Any]:
    """Judge one item; the call is settled when all have come."""
    came = shown(desk, Stage.TOOL_RESULT, coming.tool.name, value)
    about = coming.tool, coming.event, coming.decision
    return deliver(desk, *about, came, coming.args, coming.kwargs, part, settles=False)


def _source(source: Any) -> Any:
    """What gives the items of something that is iterated over."""
    return source if hasattr(type(source), "__anext__") else aiter(source)


def _close(source: Any) -> None:
    close = getattr(source, "close", None)
    if callable(close):
        close()


async def _aclose(source: Any) -> None:
    close = getattr(source, "aclose", None)
    if callable(close):
        await close()


def _made(tool: Tool, source: Iterator[Any]) -> Iterator[Any]:
    """The items of a tool, which is at work while it makes one, and not while the agent has it."""
    while True:
        with working(tool.name):
            try:
                value = next(source)
            except StopIteration:
                return
        yield value


async def _amade(tool: Tool, source: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """The same for an async one."""
    while True:
        with working(tool.name):
            try:
                value = await anext(source)
            except StopAsyncIteration:
                return
        yield value


def _not_once(desk: Desk, tool: Tool) -> None:
    if ONCE in desk.tool_facts(desk.plans, tool.name)[1]:
        raise TypeError(f"`{tool.name}` gives many items, and only a call with one result can happen `once`")

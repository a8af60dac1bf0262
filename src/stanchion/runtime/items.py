"""Items: tools that yield. Each item is judged before the agent gets it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import Any

from stanchion.runtime.at_work import working
from stanchion.runtime.desk import Desk
from stanchion.runtime.drivers import drive
from stanchion.runtime.errors import Refused
from stanchion.runtime.flows import begin, deliver, failed
from stanchion.runtime.ledger import ONCE
from stanchion.runtime.recording import left
from stanchion.runtime.spending import close_hold, used_by
from stanchion.runtime.tool import Shape, Tool


def items(desk: Desk, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
    """Run a generator tool: judged before its first step, every item judged before the agent gets it."""
    _not_once(desk, tool)
    decision, event, args, kwargs, reserved = drive(begin(desk, tool, args, kwargs), desk)
    part = 0
    began_ms = desk.shield.clock()
    source = tool.fn(*args, **kwargs)
    try:
        for value in _made(tool, source):
            part += 1
            yield drive(deliver(desk, tool, event, decision, value, args, kwargs, part, settles=False), desk)
    except (Refused, GeneratorExit):
        raise
    except Exception as error:
        drive(failed(desk, event, decision, error, 1), desk)
        raise
    finally:
        with working(tool.name):
            source.close()
        left(desk, event, decision, f"it is over after {part} items")
        drive(close_hold(desk, decision, used_by(desk, reserved, began_ms)), desk)


async def aitems(desk: Desk, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> AsyncGenerator[Any, None]:
    """The same on an event loop, for a generator tool of either kind; a sync one works in threads."""
    from stanchion.runtime.loop import adrive

    _not_once(desk, tool)
    decision, event, args, kwargs, reserved = await adrive(begin(desk, tool, args, kwargs), desk)
    part = 0
    began_ms = desk.shield.clock()
    source: Any = tool.fn(*args, **kwargs)
    if tool.shape is Shape.GENERATOR:
        from stanchion.runtime.aitems import InThreads

        source = InThreads(source)
    try:
        async for value in _amade(tool, source):
            part += 1
            yield await adrive(deliver(desk, tool, event, decision, value, args, kwargs, part, settles=False), desk)
    except (Refused, GeneratorExit):
        raise
    except Exception as error:
        await adrive(failed(desk, event, decision, error, 1), desk)
        raise
    finally:
        with working(tool.name):
            await source.aclose()
        left(desk, event, decision, f"it is over after {part} items")
        await adrive(close_hold(desk, decision, used_by(desk, reserved, began_ms)), desk)


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

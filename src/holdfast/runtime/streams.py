"""Streams: replies that come in chunks, tools that yield items. Each piece is judged before it is passed on."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any

from holdfast.kernel.events import ModelChunk, ModelReply
from holdfast.runtime.desk import Desk
from holdfast.runtime.drivers import Flow, drive
from holdfast.runtime.errors import Refused
from holdfast.runtime.flows import begin, deliver, failed, judge
from holdfast.runtime.ledger import ONCE
from holdfast.runtime.recording import left
from holdfast.runtime.spending import close_hold, used_by
from holdfast.runtime.tool import Tool


def chunks(desk: Desk, source: Iterable[str], channel: str) -> Iterator[str]:
    """Pass a streamed reply on; the source is closed as soon as a piece is refused."""
    passed: list[str] = []
    try:
        for index, chunk in enumerate(source):
            passed.append(drive(_chunk(desk, chunk, channel, index), desk))
            desk.partial.offer(passed[-1])
            yield passed[-1]
    finally:
        close = getattr(source, "close", None)
        if close is not None:
            close()
    drive(_whole(desk, "".join(passed)), desk)


async def achunks(desk: Desk, source: AsyncIterable[str], channel: str) -> AsyncIterator[str]:
    """The same on an event loop."""
    from holdfast.runtime.loop import adrive

    passed: list[str] = []
    index = 0
    try:
        async for chunk in source:
            passed.append(await adrive(_chunk(desk, chunk, channel, index), desk))
            desk.partial.offer(passed[-1])
            index += 1
            yield passed[-1]
    finally:
        close = getattr(source, "aclose", None)
        if close is not None:
            await close()
    await adrive(_whole(desk, "".join(passed)), desk)


def _chunk(desk: Desk, chunk: str, channel: str, index: int) -> Flow[str]:
    if not isinstance(chunk, str):
        raise TypeError(f"a stream passes texts on, not `{type(chunk).__name__}`: give the text of each chunk")
    event: Any = desk.event(ModelChunk, text=chunk, channel=channel, index=index)
    decision = yield from judge(desk, desk.moment(event))
    if not decision.proceeds:
        raise desk.refusal(decision)
    return str(decision.patched(chunk))


def _whole(desk: Desk, text: str) -> Flow[None]:
    event: Any = desk.event(ModelReply, text=text)
    decision = yield from judge(desk, desk.moment(event), plans=desk.streamed)
    if not decision.proceeds:
        raise desk.refusal(decision)


def items(desk: Desk, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
    """Run a generator tool: judged before its first step, every item judged before the agent gets it."""
    _not_once(desk, tool)
    decision, event, args, kwargs, reserved = drive(begin(desk, tool, args, kwargs), desk)
    part = 0
    began_ms = desk.shield.clock()
    source = tool.fn(*args, **kwargs)
    try:
        for value in source:
            part += 1
            yield drive(deliver(desk, tool, event, decision, value, args, kwargs, part, settles=False), desk)
    except (Refused, GeneratorExit):
        raise
    except Exception as error:
        drive(failed(desk, event, decision, error, 1), desk)
        raise
    finally:
        source.close()
        left(desk, event, decision, f"it is over after {part} items")
        drive(close_hold(desk, decision, used_by(desk, reserved, began_ms)), desk)


async def aitems(desk: Desk, tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> AsyncIterator[Any]:
    """The same for an async generator tool."""
    from holdfast.runtime.loop import adrive

    _not_once(desk, tool)
    decision, event, args, kwargs, reserved = await adrive(begin(desk, tool, args, kwargs), desk)
    part = 0
    began_ms = desk.shield.clock()
    source = tool.fn(*args, **kwargs)
    try:
        async for value in source:
            part += 1
            yield await adrive(deliver(desk, tool, event, decision, value, args, kwargs, part, settles=False), desk)
    except (Refused, GeneratorExit):
        raise
    except Exception as error:
        await adrive(failed(desk, event, decision, error, 1), desk)
        raise
    finally:
        await source.aclose()
        left(desk, event, decision, f"it is over after {part} items")
        await adrive(close_hold(desk, decision, used_by(desk, reserved, began_ms)), desk)


def _not_once(desk: Desk, tool: Tool) -> None:
    if ONCE in desk.tool_facts(desk.plans, tool.name)[1]:
        raise TypeError(f"`{tool.name}` gives many items, and only a call with one result can happen `once`")

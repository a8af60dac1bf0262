"""A driver over the loop of `docs/how-to/write-an-adapter.md`: the suite without any framework."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

from stanchion.testing.host_suite import Driver, Ended, Scene, Turn
from tests.docs.markdown import ROOT, Block, scan

PAGE = ROOT / "docs" / "how-to" / "write-an-adapter.md"


def page() -> dict[str, Any]:
    """What the page's first example defines."""
    blocks = (
        one for one in scan(PAGE.read_text()) if isinstance(one, Block) and one.language == "python"
    )
    made: dict[str, Any] = {"__name__": "a_loop"}
    exec(compile(next(blocks).text, str(PAGE), "exec", dont_inherit=True), made)  # noqa: S102 - our own page
    return made


LOOP = page()
HAND_OVER = "hand_over"


def turn_of(turn: Turn) -> Any:
    """A scripted turn in the loop's own type; a handoff is a call of a tool that stands for it."""
    calls = [LOOP["ToolCall"](one.id, one.tool, one.args) for one in turn.calls]
    if turn.handoff:
        calls = [LOOP["ToolCall"](f"{turn.id}-handoff", HAND_OVER, {"to": turn.handoff})]
    usage = {"input_tokens": turn.input_tokens, "output_tokens": turn.output_tokens}
    return LOOP["Turn"](turn.text, tuple(calls), usage)


def texts(messages: Any) -> list[str]:
    """The words of messages."""
    return [message.content for message in messages]


def play(scene: Scene) -> Ended:
    """Play a scene in one of the two loops."""
    if scene.is_async:
        return asyncio.run(aplay(scene))
    with LOOP["LOOP"].run(scene.shield, agent=scene.agent, task=scene.task) as hosted:
        if scene.streams:
            return Ended(pieces=tuple(hosted.model(lambda _: pieces(scene), [])))
        tools = {fn.__name__: fn for fn in scene.tools}
        loop = LOOP["Loop"](hosted, lambda messages: turn_of(scene.ask(texts(messages))), tools)
        return Ended(loop.answer(scene.prompt))


async def aplay(scene: Scene) -> Ended:
    """The same for async code."""
    async with LOOP["LOOP"].run(scene.shield, agent=scene.agent, task=scene.task) as hosted:
        if scene.streams:
            return Ended(
                pieces=tuple(
                    [piece async for piece in await hosted.amodel(lambda _: apieces(scene), [])]
                )
            )
        tools = {fn.__name__: fn for fn in scene.atools}

        async def model(messages: Any) -> Any:
            return turn_of(scene.ask(texts(messages)))

        return Ended(await LOOP["AsyncLoop"](hosted, model, tools).answer(scene.prompt))


def pieces(scene: Scene) -> Iterator[str]:
    """The model's reply in pieces."""
    yield from scene.ask([scene.prompt]).pieces


async def apieces(scene: Scene) -> AsyncIterator[str]:
    """The same for async code."""
    for piece in scene.ask([scene.prompt]).pieces:
        yield piece


DRIVER = Driver("loop", LOOP["LOOP"], play, "tests.hosts.loop.driver:DRIVER")

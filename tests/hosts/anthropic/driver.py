"""How scenes of the behaviour suite are played with plain clients of `anthropic`."""

from __future__ import annotations

import asyncio
from typing import Any

import anthropic

from stanchion.hosts.anthropic import ANTHROPIC, arun_tools, guard, run_tools
from stanchion.testing.host_suite import Driver, Ended, Scene
from tests.hosts.clients.scenes import MODEL, handing, provider_of, tools


class Loop:
    """A loop on messages."""

    def __init__(self, prompt: str) -> None:
        self.messages: list[Any] = [{"role": "user", "content": prompt}]
        self.asked: dict[str, Any] = {"model": MODEL, "max_tokens": 100, "messages": self.messages}

    def take(self, reply: Any) -> str | None:
        """Keep a reply; gives its text where it is the answer."""
        self.messages.append({"role": "assistant", "content": reply.content})
        if reply.stop_reason == "tool_use":
            return None
        return "".join([block.text for block in reply.content if block.type == "text"])


def play(scene: Scene) -> Ended:
    """Play a scene with a client."""
    with provider_of(scene) as provider:
        options: dict[str, Any] = {"api_key": "sk-none", "base_url": provider.url, "max_retries": 0}
        if scene.is_async:
            return asyncio.run(aplay(scene, anthropic.AsyncAnthropic(**options)))
        loop = Loop(scene.prompt)
        with ANTHROPIC.run(scene.shield, scene.agent, scene.task) as hosted:
            client = guard(anthropic.Anthropic(**options), hosted)
            if scene.streams:
                with client.messages.stream(**loop.asked) as stream:
                    return Ended(pieces=tuple(filter(None, stream.text_stream)))
            while (answer := loop.take(reply := client.messages.create(**loop.asked))) is None:
                loop.messages += run_tools(client, reply, tools(scene), handoffs=handing(scene))
            return Ended(answer)


async def aplay(scene: Scene, plain: anthropic.AsyncAnthropic) -> Ended:
    """The same with an async client."""
    loop = Loop(scene.prompt)
    async with ANTHROPIC.run(scene.shield, scene.agent, scene.task) as hosted, plain:
        client = guard(plain, hosted)
        if scene.streams:
            async with client.messages.stream(**loop.asked) as stream:
                return Ended(pieces=tuple([said async for said in stream.text_stream if said]))
        while (answer := loop.take(reply := await client.messages.create(**loop.asked))) is None:
            loop.messages += await arun_tools(client, reply, tools(scene), handoffs=handing(scene))
        return Ended(answer)


DRIVER = Driver("anthropic", ANTHROPIC, play, "tests.hosts.anthropic.driver:DRIVER")

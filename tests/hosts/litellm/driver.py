"""How scenes of the behaviour suite are played with LiteLLM's functions."""

from __future__ import annotations

import asyncio
from typing import Any

from stanchion.hosts.litellm import LITELLM, arun_tools, guard, run_tools
from stanchion.testing.host_suite import Driver, Ended, Scene
from tests.hosts.clients.provider import Provider
from tests.hosts.clients.scenes import MODEL, handing, provider_of, tools


class Loop:
    """A loop on LiteLLM's chat completions."""

    def __init__(self, provider: Provider, prompt: str) -> None:
        self.messages: list[Any] = [{"role": "user", "content": prompt}]
        self.asked = {**options(provider), "messages": self.messages}

    def take(self, reply: Any) -> str | None:
        """Keep a reply; gives its text where it is the answer."""
        message = reply.choices[0].message
        self.messages.append(message.model_dump(exclude_none=True))
        return None if message.tool_calls else message.content


def options(provider: Provider) -> dict[str, Any]:
    """How LiteLLM reaches the provider."""
    return {
        "model": f"openai/{MODEL}",
        "api_base": f"{provider.url}/v1",
        "api_key": "sk-none",
        "max_retries": 0,
    }


def piece(chunk: Any) -> str:
    """What a chunk says."""
    return (chunk.choices[0].delta.content or "") if chunk.choices else ""


def play(scene: Scene) -> Ended:
    """Play a scene with LiteLLM's functions."""
    with provider_of(scene) as provider:
        loop = Loop(provider, scene.prompt)
        if scene.is_async:
            return asyncio.run(aplay(scene, loop))
        with LITELLM.run(scene.shield, scene.agent, scene.task) as hosted:
            llm = guard(hosted)
            if scene.streams:
                return Ended(
                    pieces=tuple(
                        filter(None, map(piece, llm.completion(**loop.asked, stream=True)))
                    )
                )
            while (answer := loop.take(reply := llm.completion(**loop.asked))) is None:
                loop.messages += run_tools(llm, reply, tools(scene), handoffs=handing(scene))
            return Ended(answer)


async def aplay(scene: Scene, loop: Loop) -> Ended:
    """The same with those that are awaited."""
    async with LITELLM.run(scene.shield, scene.agent, scene.task) as hosted:
        llm = guard(hosted)
        if scene.streams:
            chunks = await llm.acompletion(**loop.asked, stream=True)
            return Ended(pieces=tuple([said async for chunk in chunks if (said := piece(chunk))]))
        while (answer := loop.take(reply := await llm.acompletion(**loop.asked))) is None:
            loop.messages += await arun_tools(llm, reply, tools(scene), handoffs=handing(scene))
        return Ended(answer)


DRIVER = Driver("litellm", LITELLM, play, "tests.hosts.litellm.driver:DRIVER")
